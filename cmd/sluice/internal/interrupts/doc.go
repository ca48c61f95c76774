// Package interrupts says what Ctrl-C, SIGTERM and a terminal that goes away mean for commands that have begun something.
//
// Invariant: a command that holds the lock of a stack gives it back before a signal ends the process.
package interrupts
