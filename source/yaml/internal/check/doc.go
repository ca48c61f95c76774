// Package check finds out what the types and functions are that a YAML program names, and whether they get what they take
// (protocol.md 11.4).
//
// It evaluates nothing: what only an evaluation can tell passes.
//
// Invariant: what is named in a program that was checked without errors has a full token.
package check
