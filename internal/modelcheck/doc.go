// Package modelcheck has the tests that explore every schedule of a few processes that use one stack: the code of locks,
// journals, recovery and takeover runs as it is, and a scheduler owns everything that processes do to one another. There is
// nothing in it to import.
//
// What is modelled, and what is not, is in docs/decisions/0037-model-checking-of-state.md.
package modelcheck
