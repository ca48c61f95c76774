// Package state holds what is recorded of a stack: resources, snapshots, the rules a snapshot must keep, the merge of a
// run's changes into it, and the checkpoint file format that is shared with Pulumi (state.md sections 1 to 3).
//
// It does not know where files are (package backend), how secrets are encrypted (package secrets), or why a resource
// changes (package stages).
//
// Invariant: what a [Recorder] writes passes [Verify], and its bytes depend only on what was recorded, never on the order
// in which independent steps completed.
package state
