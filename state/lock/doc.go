// Package lock takes and releases the lock files by which Pulumi and sluice keep each other away from a stack
// (state.md 4.6). Inside of sluice's is a lease: who holds it, for what, and when the holder has last said that it is alive.
//
// It knows nothing of stacks: a lock is a content in a folder of a [store.Store].
//
// Invariant: of several processes that follow the protocol at most one holds the lock of a folder. That nobody gets it,
// because several tried at the same moment, is possible. A holder that cannot be sure any more learns so from [Lock.Check].
package lock
