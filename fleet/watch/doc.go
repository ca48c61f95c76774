// Package watch is the client side of package run: it starts runs of fleets, follows them, and sends the decisions of people to them.
//
// It shows nothing.
//
// Invariant: a run of the same stacks with the same operation and options is started once. A second start while it is running follows it.
package watch
