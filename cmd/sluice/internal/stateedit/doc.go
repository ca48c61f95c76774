// Package stateedit has what the commands that edit the recorded state of a stack share: they take its lock, choose
// resources, show what is going to change, ask, save and report.
//
// Invariant: nothing is saved that was not shown to whoever is asked, and an edit that is refused changes nothing.
package stateedit
