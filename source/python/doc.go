// Package python runs Python programs, policy packs, components and dynamic providers without a language plugin
// (protocol.md 6.4).
//
// It finds the interpreter of the program's virtual environment, whichever tool keeps that, and has the program's own copy of
// the SDK do the rest.
//
// Invariant: a program that cannot be started leads to an error that says what is missing and how to get it.
package python
