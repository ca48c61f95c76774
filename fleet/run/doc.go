// Package run is what a fleet run does, as Temporal workflows: one for the run, and one child for each stack. Every operation on a stack is an
// activity, of which this package knows the names and the forms alone; package worker carries them out.
//
// The code is replayed from histories: it asks for nothing but what Temporal gives it, and a change that histories of earlier versions do not
// fit goes behind [workflow.GetVersion]. Histories that were recorded are in testdata.
//
// Invariant: each stack of a run gets exactly one outcome, and none begins before what it comes after has succeeded or was left as it is.
package run
