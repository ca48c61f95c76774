// Package order finds out which stacks of a fleet come after which.
//
// An edge is written in fleet.yaml, or it is there because a stack reads the outputs of another one, which its state or its last run says. This
// package reads neither: it gets both.
//
// Invariant: an [Order] has no cycle.
package order
