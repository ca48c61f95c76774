// Package inprocess measures the engine as a library: the program is a Go function, the provider a Go value and the state in memory. The
// figures include their work.
//
// The matrix has each operation on stacks of each shape and size, with provider calls of various latencies.
//
// Invariant: the preparation of an operation is not measured.
package inprocess
