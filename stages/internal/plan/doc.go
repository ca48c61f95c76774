// Package plan holds the update plans of a run (steps.md section 12): the one that restricts it, and the one that it makes.
//
// Invariant: a run with a plan starts no step that the plan does not have.
package plan
