// Package state implements the recorded state of a stack: resources, snapshots and their integrity rules, the merge of a
// run's changes into a snapshot, and the checkpoint file format, which is Pulumi's ([state.md 1], [state.md 2] and [state.md 3]).
//
// It leaves the places of files to package backend, encryption to package secrets, and decisions about resources to
// package stages.
//
// Invariant: every snapshot that a [Recorder] writes passes [Verify]. Its bytes depend only on the recorded changes, never
// on the order in which independent steps completed.
//
// [state.md 1]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/state.md#1-checkpoints
// [state.md 2]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/state.md#2-values
// [state.md 3]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/state.md#3-from-steps-to-the-snapshot
package state
