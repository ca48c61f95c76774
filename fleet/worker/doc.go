// Package worker carries out the operations of fleet runs: each runs sluice as a child process and follows its events.
//
// Package run decides which operations run and when. A worker stores only checkouts and logs. Its records about a stack are in
// a tag of the stack, which every worker can read.
//
// Invariant: a child process ends with its worker, and the results for Temporal contain no secrets and no state.
package worker
