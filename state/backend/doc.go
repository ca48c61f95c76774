// Package backend keeps the states of stacks where Pulumi keeps them: the stack files, locks, history and backups of a
// self-managed backend (state.md section 4), in whatever a [store.Store] is.
//
// It does not know how a checkpoint is encoded (package state) or encrypted (package secrets), and it selects nothing:
// which backend and which stack are current is package workspace's business.
//
// Its parts, each of which needs only those before it: storage, the store of a backend as a whole; stackFiles, the files of
// one stack as they are, with history, tags and journalFile; intent and stackIntents, operations on two stacks; reader, which
// reads a stack with what is only in its journal; remains and recovery, which recover what interrupted operations have left;
// fileStack and [File], which callers get as [Stack] and [Backend].
//
// Invariant: at every moment the stack file is either the old or the new one as a whole, and reading changes nothing but to
// bring it up to date with the journal of an interrupted operation.
package backend
