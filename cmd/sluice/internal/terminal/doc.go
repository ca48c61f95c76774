// Package terminal is where a command meets its user: the streams, the environment, questions and warnings.
//
// It knows nothing of stacks and of what is done to them.
//
// Invariant: what is typed as an answer to a hidden question is never shown, and a signal at such a question leaves the
// terminal as it was.
package terminal
