// Package assembly joins the standard stages of a run with those that a caller has put into the slots of an engine.
//
// It knows nothing of how operations begin and end.
//
// Invariant: each standard stage is in the pipeline once, or the stage that a caller has put in its place is.
package assembly
