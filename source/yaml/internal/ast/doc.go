// Package ast has the syntax tree of a YAML program: its configuration, variables, resources and outputs, with their
// expressions parsed (protocol.md 11.2 to 11.7). It reports the mistakes that can be found without other names or
// schemas.
//
// It evaluates nothing.
//
// Invariant: a Template without errors has a type for every resource and a function for every call.
package ast
