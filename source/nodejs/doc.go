// Package nodejs runs Node.js and TypeScript programs without a language plugin (protocol.md 6.2).
//
// It installs nothing and compiles nothing: the program's own copy of the SDK does what is to be done.
//
// Invariant: a program that cannot be started leads to an error that says what is missing and how to get it.
package nodejs
