// Package workspace reads and edits the files beside a program: the project file (Pulumi.yaml) and the stack files
// (Pulumi.<stack>.yaml), and makes of them the configuration that the engine and programs see (state.md 6).
//
// It does not know where state is kept, how secrets are encrypted, or which stack is selected.
//
// Invariant: what a command does not change in a file keeps its place, its comments and its value, and a file that
// cannot be understood is never written.
package workspace
