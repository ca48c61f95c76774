// Package state holds what is recorded of a stack: resources, snapshots, the rules a snapshot must keep, the merge of a
// run's changes into it, and the checkpoint file format that is shared with Pulumi (state.md sections 1 to 3).
//
// It does not know where files are (package backend), how secrets are encrypted (package secrets), or why a resource
// changes (package stages).
//
// Invariant: whatever this package writes passes [Verify], and its bytes depend only on the content of the snapshot,
// never on the order in which steps completed.
package state
