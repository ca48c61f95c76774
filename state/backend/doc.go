// Package backend keeps the states of stacks in the same places as Pulumi: the stack files, locks, history and backups
// of a self-managed backend ([state.md 4]), in any [store.Store].
//
// Package state encodes checkpoints, and package secrets encrypts them. The package selects nothing: package workspace
// selects the current backend and stack.
//
// Its parts, each of which needs only those before it: storage, the store of a backend as a whole; stackFiles, the files of
// one stack as they are, with history, tags and journalFile; intent and stackIntents, operations on two stacks; reader, which
// reads a stack including its journal; remains and recovery, which recover interrupted operations; fileStack and [File],
// which callers get as [Stack] and [Backend].
//
// Invariant: at every moment the stack file is either the old or the new one as a whole, and reading changes nothing except
// that it applies the journal of an interrupted operation.
//
// [state.md 4]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/state.md#4-backends
package backend
