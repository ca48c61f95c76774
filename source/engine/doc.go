// Package engine is the gRPC Engine service: programs, language plugins and providers send log messages to it, store the stack's URN in it
// and read the version of the engine ([protocol.md 5.1]).
//
// It does not show messages: they go to a function, which may be a different one in each run.
//
// Invariant: a message handed on contains no colour tag and no escape sequence.
//
// [protocol.md 5.1]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/protocol.md#51-engine
package engine
