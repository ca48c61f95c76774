// Package backend keeps the states of stacks where Pulumi keeps them: the stack files, locks, history and backups of a
// self-managed backend (state.md section 4), in whatever a [store.Store] is.
//
// It does not know how a checkpoint is encoded (package state) or encrypted (package secrets), and it selects nothing:
// which backend and which stack are current is package workspace's business.
//
// Invariant: at every moment the stack file is either the old or the new one as a whole, and reading changes nothing but to
// bring it up to date with the journal of an operation that was cut off.
package backend
