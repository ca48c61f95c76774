// Package python runs Python programs, policy packs, components and dynamic providers without a language plugin
// ([protocol.md 6.4]).
//
// It finds the interpreter of the program's virtual environment, whichever tool manages that. The program's own copy of the SDK does the
// rest.
//
// Invariant: a program that cannot be started leads to an error that names the missing part and how to get it.
//
// [protocol.md 6.4]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/protocol.md#64-python
package python
