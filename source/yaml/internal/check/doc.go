// Package check resolves the types and functions that a YAML program names, and checks their properties and arguments
// (protocol.md 11.4).
//
// It evaluates nothing: it accepts mistakes that only an evaluation can show.
//
// Invariant: what is named in a program that was checked without errors has a full token.
package check
