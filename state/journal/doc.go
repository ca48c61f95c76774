// Package journal records a run by appending to a journal, and recovers from the journal of a run that was interrupted
// ([state.md 9.4] to 9.7).
//
// A [Recorder] is a [state.Recorder] that writes only changes. It keeps the same [state.Ledger] as every other recorder.
// Each record is applied to the ledger and appended to the journal. From time to time, and at the end, the ledger's snapshot
// is compacted into the checkpoint. [Recover] applies the records of a journal to a ledger in the same way, so that it
// writes the same checkpoint as the run would have written.
//
// A [Store] keeps the journals. The caller holds the lock of the stack.
//
// Invariant: at every moment the checkpoint is a whole one, and checkpoint, base and journal together contain all changes
// whose recording has returned.
//
// [state.md 9.4]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/state.md#94-promises
package journal
