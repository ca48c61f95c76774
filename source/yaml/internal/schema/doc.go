// Package schema reads the schemas of packages, as far as the evaluation of a YAML program needs them: types and functions, and their
// properties (protocol.md 11.4).
//
// It calls no provider; the caller passes the text of the schema.
//
// Invariant: a package without a description accepts everything.
package schema
