// Package assembly joins the standard stages of a run with a caller's stages in the slots of an engine.
//
// It is independent of how operations begin and end.
//
// Invariant: the pipeline contains each standard stage, or the stage that replaces it, exactly once.
package assembly
