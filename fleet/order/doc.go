// Package order computes the order of the stacks of a fleet.
//
// There is an edge between two stacks if fleet.yaml has one, or if one stack reads the outputs of the other, according to its state or its last run.
// Callers pass both kinds of edges; this package reads no files.
//
// Invariant: an [Order] has no cycle.
package order
