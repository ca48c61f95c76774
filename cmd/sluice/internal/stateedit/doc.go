// Package stateedit contains what the commands that edit the recorded state of a stack share: they take its lock,
// choose resources, show the planned changes, ask, save and report.
//
// Invariant: a user who is asked has seen everything that is saved, and an edit that is refused changes nothing.
package stateedit
