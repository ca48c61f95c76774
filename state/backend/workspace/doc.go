// Package workspace keeps a user's selections on a machine: the current backend (the credentials file) and the current
// stack of each project ([state.md 4.1], [state.md 4.12]). Both files are shared with Pulumi.
//
// It opens no backend and asks no questions.
//
// Invariant: members of these files that Pulumi wrote and sluice does not use stay in them.
//
// [state.md 4.1]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/state.md#41-which-one
// [state.md 4.12]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/state.md#412-the-selected-stack
package workspace
