// Package lock takes and releases the lock files by which Pulumi and sluice exclude each other from a stack
// ([state.md 4.6]). sluice's contain a lease: the holder, the purpose, and when the holder was last alive.
//
// A lock is a content in a folder of a [store.Store]; the package does not depend on stacks.
//
// Invariant: of several processes that follow the protocol at most one holds the lock of a folder. If several try at the
// same moment, it is possible that none gets it. [Lock.Check] returns an error when a holder can no longer be sure.
//
// [state.md 4.6]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/state.md#46-locks
package lock
