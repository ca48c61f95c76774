// Package modelcheck has tests that explore every schedule of a few processes that use one stack: they run the real code of
// locks, journals, recovery and takeover, under a scheduler that controls everything that processes do to one another. It
// exports nothing.
//
// docs/decisions/0037-model-checking-of-state.md describes what is modelled, and what is not.
package modelcheck
