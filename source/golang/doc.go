// Package golang runs Go programs without a language plugin: it builds them with the go command and starts the executable
// ([protocol.md 6.3]).
//
// It downloads nothing itself; the go command may.
//
// Invariant: a build that has not been run for 30 days is deleted by a later build, unless the project names a place for it.
//
// [protocol.md 6.3]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/protocol.md#63-go-without-a-plugin
package golang
