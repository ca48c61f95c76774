// Package config has the types that YAML programs declare for their configuration and components for their inputs, and parses
// the values of a stack, which are texts (protocol.md 11.3).
//
// It evaluates nothing.
//
// Invariant: a value that fits a type is a value of that type; nothing is converted, except a stack's text to a string.
package config
