// Package builtin is the provider of the package "pulumi" ([protocol.md 8], [steps.md 10.5]): stack references, stashes and
// the functions that read other stacks and resources of this run. It runs in the engine's process.
//
// It reads no state itself: the functions in [Options] find other stacks and the resources of this run.
//
// Invariant: nothing here changes anything outside the state.
//
// [protocol.md 8]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/protocol.md#8-the-package-pulumi
// [steps.md 10.5]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/steps.md#105-the-package-pulumi
package builtin
