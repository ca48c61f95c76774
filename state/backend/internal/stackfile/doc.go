// Package stackfile reads and replaces the stack file of one stack (state.md 4.5): the newest of its variants, the .bak file
// beside it and the retained copies. Package state reads the contents.
//
// Invariant: at every moment the stack file is either the old or the new one as a whole, and a file that another process has
// written is never overwritten.
package stackfile
