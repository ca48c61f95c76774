// Package journal records a run by appending to a journal, and recovers from the journal of a run that was interrupted
// (state.md 9.4 to 9.7).
//
// A [Recorder] is a [state.Recorder] that writes only what changes. It keeps the same [state.Ledger] as every other
// recorder; each record is applied to it and appended to the journal, and from time to time, and at the end, the ledger's
// snapshot is compacted into the checkpoint. [Recover] applies the records of a journal to a ledger in the same way, so that
// what it writes is what the run would have written.
//
// The package does not know where journals are kept: a [Store] does. It knows nothing of locks; the caller holds that of the
// stack.
//
// Invariant: at every moment the checkpoint is a whole one, and checkpoint, base and journal together hold everything that a
// Recorder has returned from recording.
package journal
