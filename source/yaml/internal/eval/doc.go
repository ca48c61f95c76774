// Package eval evaluates the expressions of a YAML program (protocol.md 11.6 to 11.8), with what is known of the names in them
// and, for functions of packages and resources of others, with calls of the engine.
//
// It registers nothing.
//
// Invariant: what is unknown or secret in a value, and which resources it comes from, travels with it through every expression.
package eval
