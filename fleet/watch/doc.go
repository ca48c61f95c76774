// Package watch begins runs of fleets, follows them, and tells them what people decide: it is the client side of package run.
//
// It shows nothing.
//
// Invariant: a run of the same stacks with the same operation and options is begun once; who begins it again while it goes on follows it.
package watch
