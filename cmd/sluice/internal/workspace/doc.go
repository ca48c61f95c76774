// Package workspace reads and edits the files beside a program: the project file (Pulumi.yaml) and the stack files
// (Pulumi.<stack>.yaml). From them it makes the configuration for the engine and for programs (state.md 6).
//
// It does not depend on where state is kept, how secrets are encrypted, or which stack is selected.
//
// Invariant: what a command does not change in a file keeps its place, its comments and its value, and a file that
// cannot be parsed is never written.
package workspace
