// Package state implements the recorded state of a stack: resources, snapshots and their integrity rules, the merge of a
// run's changes into a snapshot, and the checkpoint file format, which is Pulumi's (state.md sections 1 to 3).
//
// It does not know where files are (package backend), how secrets are encrypted (package secrets), or why a resource
// changes (package stages).
//
// Invariant: every snapshot that a [Recorder] writes passes [Verify]. Its bytes depend only on the recorded changes, never
// on the order in which independent steps completed.
package state
