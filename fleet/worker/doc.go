// Package worker carries out the operations of fleet runs: each runs sluice as a child process and follows its events.
//
// Package run decides what is done and when. A worker stores only checkouts and logs. What it remembers of a stack is in a tag
// of the stack, where every worker finds it.
//
// Invariant: a child process ends with its worker, and the results for Temporal contain no secrets and no state.
package worker
