// Package worker carries out the operations of fleet runs: each runs sluice as a child process and follows its events.
//
// It does not decide what is done when; package run does. It keeps nothing of its own but checkouts and logs: what it remembers of a stack is a tag
// of the stack, where every worker finds it.
//
// Invariant: a child process ends with its worker, and what is returned to Temporal has no secret and no state.
package worker
