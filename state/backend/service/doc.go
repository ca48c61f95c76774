// Package service keeps the states of stacks in Pulumi's service: a [backend.Backend] whose stacks are there.
//
// While a stack is locked it has a working copy in the user's home directory, a stack of a file backend, which records operations in
// its journal as usual. The records go to the service from there. Records that could not be sent stay in the working copy, marked
// with their update, and the next command on the stack sends them ([0120]). The tables of calls and the transport are in
// internal/api.
//
// Its parts, each of which needs only those before it: memory and content, states as they are read; core, the client and account, with
// keys, the secrets of stacks, and copies, their working copies with the unsent changes; subject, a stack at the service; stack, with
// lock, edit, run, an operation with its lease, and feed and events, which go to the service meanwhile; and [Backend].
//
// Invariant: a working copy is removed only when the service has all of it, or the user has decided against it. An operation begins
// nothing more when its lease is lost.
//
// [0120]: docs/decisions/0120-working-copies.md
package service
