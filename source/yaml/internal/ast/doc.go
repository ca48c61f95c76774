// Package ast is what a YAML program says: its configuration, variables, resources and outputs, with their expressions
// parsed (protocol.md 11.2 to 11.7). It reports whatever can be seen to be wrong without knowing other names or schemas.
//
// It evaluates nothing.
//
// Invariant: a Template that came without errors has a type for every resource and a function for every call.
package ast
