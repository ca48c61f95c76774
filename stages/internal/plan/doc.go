// Package plan is what a run has to do with update plans (steps.md section 12): the one that it is held to, and the one
// that it makes.
//
// Invariant: a run that is held to a plan starts no step that the plan does not have.
package plan
