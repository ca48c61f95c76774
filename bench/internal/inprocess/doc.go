// Package inprocess measures the engine as a library: the program is a Go function, the provider a Go value and the state in memory. What it
// measures includes their work.
//
// The matrix has each operation on stacks of each shape and size, with provider calls that answer at once or take their time.
//
// Invariant: what prepares an operation is not measured.
package inprocess
