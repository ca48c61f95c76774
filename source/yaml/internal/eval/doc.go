// Package eval evaluates the expressions of a YAML program (protocol.md 11.6 to 11.8), with the values of the names in them.
// It calls the engine for functions of packages and for resources of other components.
//
// It registers nothing.
//
// Invariant: every expression keeps the marks of the values in it: unknown, secret, and the resources that they depend on.
package eval
