// Package operate runs the operations of the engine with a display: it prepares the options of the engine, shows a preview,
// requests a confirmation, runs the operation, and records it.
//
// A command opens a stack with [Open], makes a [Job] with [Prepare], completes it and calls [Run].
//
// Invariant: the lock of the stack is held while anything is changed, and is released however the command ends, except after
// a kill.
package operate
