// Package schema reads what providers say about their packages, as far as the evaluation of a YAML program needs it: which
// types and functions there are, and what their properties are (protocol.md 11.4).
//
// It calls no provider; the caller passes the text.
//
// Invariant: a package that does not describe itself accepts everything.
package schema
