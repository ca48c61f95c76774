// Package interrupts defines the effect of Ctrl-C, SIGTERM and the end of the terminal on commands that have begun
// something.
//
// Invariant: a command that holds the lock of a stack releases it before a signal ends the process.
package interrupts
