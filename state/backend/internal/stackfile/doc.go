// Package stackfile reads and replaces the stack file of one stack (state.md 4.5): the newest of its variants, the .bak file
// beside it and the copies that are kept. What is in a stack file is the business of package state.
//
// Invariant: at every moment the stack file is either the old or the new one as a whole, and what somebody else has written is
// never written over.
package stackfile
