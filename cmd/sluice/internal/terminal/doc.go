// Package terminal is the interface between a command and its user: the streams, the environment, questions and
// warnings.
//
// It is independent of stacks and operations.
//
// Invariant: at any time one question, one screen or one other program has the terminal, and nothing else reads from it. However a question ends,
// the mode of the terminal is restored. Only text that is safe to print is printed.
package terminal
