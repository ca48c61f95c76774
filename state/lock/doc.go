// Package lock takes and releases the lock files by which Pulumi and sluice keep each other away from a stack
// (state.md 4.6). sluice's contain a lease: who holds it, for what, and when the holder was last alive.
//
// It knows nothing of stacks: a lock is a content in a folder of a [store.Store].
//
// Invariant: of several processes that follow the protocol at most one holds the lock of a folder. If several try at the
// same moment, it is possible that none gets it. [Lock.Check] tells a holder that can no longer be sure.
package lock
