// Package live draws an operation on the whole screen of a terminal: a tree of its running and failed steps, and below it the progress. When
// the operation ends, the screen is restored, and the report is written below.
//
// It makes no decisions and delays nothing: it reads a [display.Report] five times a second, whatever the number of events.
//
// Invariant: [Screen.Close] restores the terminal, however the operation ends.
package live
