// Package refresh reads recorded objects again: before the program starts, as the program registers them, and, in a refresh that
// runs the program, those that the program has not registered. It also resolves interrupted updates and deletes by reading.
//
// Invariant: the state that a refresh rebuilds is in the order of the base, whichever read ends first.
package refresh
