// Package packages finds the packages that a YAML program may use: those that lock files name (protocol.md 11.10), and their
// schemas, which it gets from their providers.
//
// It does not determine which of them the program uses.
//
// Invariant: a provider is asked for its schema once, and ended as soon as it has answered.
package packages
