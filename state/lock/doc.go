// Package lock takes and releases the lock files by which Pulumi and sluice keep each other away from a stack
// (state.md 4.6).
//
// It knows nothing of stacks: a lock is a file in a directory.
//
// Invariant: of several processes that follow the protocol at most one holds the lock of a directory. That nobody gets
// it, because two tried at the same moment, is possible.
package lock
