// Package terminal is the interface between a command and its user: the streams, the environment, questions and
// warnings.
//
// It is independent of stacks and operations.
//
// Invariant: the answer to a hidden question is never shown, and a signal at such a question leaves the terminal
// unchanged.
package terminal
