// Package packages knows which packages a YAML program may use: those that lock files name (protocol.md 11.10), and what their
// providers say is in them.
//
// It does not know which of them the program does use.
//
// Invariant: a provider is asked for its schema once, and ended as soon as it has answered.
package packages
