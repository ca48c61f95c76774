// Package golang runs Go programs without a language plugin: it builds them with the go command and starts what was
// built (protocol.md 6.3).
//
// It downloads nothing itself; the go command does what it does.
//
// Invariant: what was built for a run is deleted when the Program is closed, unless the project says where to keep it.
package golang
