// Package stateedit has the common parts of the commands that edit the recorded state of a stack: they take its lock,
// choose resources, show the planned changes, request a confirmation, save and report.
//
// Invariant: everything that is saved after a confirmation has been shown before it, and an edit that is refused
// changes nothing.
package stateedit
