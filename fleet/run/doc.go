// Package run implements fleet runs as Temporal workflows: one for the run, and one child for each stack. Every operation on a stack is an
// activity. This package depends only on the names and the types of activities; package worker carries them out.
//
// Temporal replays this code from histories, so it must use no inputs except those from Temporal. A change that does not match the histories of
// earlier versions must be guarded by [workflow.GetVersion]. testdata has recorded histories.
//
// Invariant: each stack of a run gets exactly one outcome, and no stack begins before its dependencies have succeeded or were found unchanged.
package run
