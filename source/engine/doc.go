// Package engine is the gRPC Engine service: programs, language plugins and providers send log messages to it, remember
// the stack's URN in it and ask which engine this is (protocol.md 5.1).
//
// It does not show messages: they go to a function that may be another one in each run.
//
// Invariant: a message handed on contains no colour tag and no escape sequence.
package engine
