// Package stages is the vocabulary of deployments: the items that pass between the stages of a run, and the interfaces
// with which callers observe and change a run. To write a stage, you need only this package and [pipeline].
//
// The standard stages are in package standard, and their shared parts in packages under internal.
//
// Invariant: every registration gets exactly one reply. The reply and the recorded state do not depend on the timing of
// provider calls or the number of workers.
//
// [pipeline]: https://pkg.go.dev/github.com/sluice-iac/sluice/pipeline
package stages
