// Package live draws an operation on the whole screen of a terminal while it runs: a tree of what runs and what has failed, and below it how
// far the operation has come. When it ends, the screen is what it was before, and the report is written below.
//
// It does not decide anything, and it holds up nothing: it looks at a [display.Report] five times a second, whatever the number of
// events.
//
// Invariant: whatever ends the operation, [Screen.Close] gives the terminal back as it was.
package live
