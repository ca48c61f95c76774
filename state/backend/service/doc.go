// Package service keeps the states of stacks in Pulumi's service: a [backend.Backend] whose stacks are there.
//
// While a stack is locked it has a working copy in the user's home directory, a stack of a file backend, which records operations in
// its journal as it does everywhere. What is recorded goes to the service from there. What could not be sent stays in the
// working copy, with a record of which update it belongs to, and the next command on the stack sends it ([0120]). The tables of calls
// and the transport are in internal/api.
//
// Its parts, each of which needs only those before it: memory and content, states as they are read; core, who asks, with keys, the secrets
// of stacks, and copies, their working copies and what of these was not sent; subject, a stack as the service knows it; stack, with lock,
// edit, run, an operation with its lease, and feed and events, which go to the service meanwhile; and [Backend].
//
// Invariant: a working copy is removed only when the service has what is in it, or the user has decided against it. An operation begins
// nothing more when its lease is lost.
//
// [0120]: docs/decisions/0120-working-copies.md
package service
