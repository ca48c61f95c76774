// Package stages is the vocabulary of deployments: the items that pass between the stages of a run, and the interfaces
// of what observes and changes it. A stage of your own needs this package and [pipeline] only.
//
// The stages themselves are in package standard, and what they share in packages under internal.
//
// Invariant: every registration is answered exactly once, and the answer, like the recorded state, is the same
// whatever the timing of provider calls and the number of workers.
//
// [pipeline]: https://pkg.go.dev/github.com/sluice-iac/sluice/pipeline
package stages
