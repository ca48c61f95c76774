// Package config has the declared types of the configuration of YAML programs and of the inputs of components. It parses the values of a
// stack, which are texts (protocol.md 11.3).
//
// It evaluates nothing.
//
// Invariant: a value is never converted to fit a type, except a stack's text to a string.
package config
