// Package config has the types that YAML programs declare for their configuration and components for their inputs, and reads
// the values of a stack, which are texts (protocol.md 11.3).
//
// It evaluates nothing.
//
// Invariant: a value that fits a type is a value of that type; nothing is converted but a stack's text for a string.
package config
