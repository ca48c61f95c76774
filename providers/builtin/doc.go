// Package builtin is the provider of the package "pulumi" (protocol.md 8, steps.md 10.5): stack references, stashes and
// the functions that read other stacks and resources of this run. It runs in the engine's process.
//
// It reads no state itself: the functions in [Options] find other stacks and the resources of this run.
//
// Invariant: nothing here changes anything outside the state.
package builtin
