// Package refresh reads recorded objects again: before the program starts, as the program registers them, and, in a refresh that runs the
// program, what the program has not registered. It also finds out by reading how interrupted updates and deletes ended.
//
// Invariant: what is read is written into the rooms in the order of the base, whichever read ends first.
package refresh
