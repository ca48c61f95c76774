// Package builtin is the provider of the package "pulumi" (protocol.md 8, steps.md 10.5): stack references, stashes and
// the functions that read other stacks and resources of this run. It runs in the engine's process.
//
// It reads no state itself: where other stacks and this run's resources are found is up to the functions in [Options].
//
// Invariant: nothing here changes anything outside the state.
package builtin
