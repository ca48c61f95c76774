// Package nodejs runs Node.js and TypeScript programs without a language plugin ([protocol.md 6.2]).
//
// It installs nothing and compiles nothing: the program's own copy of the SDK does that.
//
// Invariant: a program that cannot be started leads to an error that names the missing part and how to get it.
//
// [protocol.md 6.2]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/protocol.md#62-nodejs-without-a-plugin
package nodejs
