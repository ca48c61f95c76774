// Package workspace keeps what a person has selected on a machine: the current backend (the credentials file) and the
// current stack of each project (state.md 4.1, 4.12). Both files are shared with Pulumi.
//
// It opens no backend and asks no questions.
//
// Invariant: what Pulumi wrote into these files and sluice does not use stays in them.
package workspace
