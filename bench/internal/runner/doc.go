// Package runner runs cases: those that are selected, each several times, and those that are compared by turns, so that other work on the machine
// falls on all of them.
//
// Invariant: the first run of each is a warm-up and in no result.
package runner
