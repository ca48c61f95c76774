// Package check resolves the types and functions that a YAML program names, and checks their properties and arguments
// (protocol.md 11.4).
//
// It evaluates nothing: it does not find mistakes that only an evaluation can show.
//
// Invariant: every type and function of a program without errors has a full token.
package check
