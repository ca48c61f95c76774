// Package eval evaluates the expressions of a YAML program (protocol.md 11.6 to 11.8), with the values of the names in them.
// It calls the engine for functions of packages and for resources of other components.
//
// It registers nothing.
//
// Invariant: what is unknown or secret in a value, and which resources it comes from, is kept through every expression.
package eval
