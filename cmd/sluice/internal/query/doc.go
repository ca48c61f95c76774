// Package query answers questions about recorded resources. A question is an expression of CEL, the Common Expression Language, that is true for the
// resources that are looked for.
//
// It reads no states: callers pass snapshots.
//
// Invariant: without shown secrets, no answer depends on the content of a secret. A part of an expression whose result would depend on one has no result.
package query
