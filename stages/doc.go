// Package stages holds the steps that a registration goes through, one file each, and the items that pass between
// them:
//
//	register → lookup → import → check → analyze → diff → build → execute
//
// All provider I/O happens in the parallel stages (check, analyze, diff, execute); all decisions over shared state
// happen in lookup, which owns names, and build, which owns outcomes. Each of those has one writer that never does
// I/O. The package does not know where registrations come from (package source) or how runs are put together (package
// sluice).
//
// Invariant: every registration is answered exactly once, and the answer, like the recorded state, is the same
// whatever the timing of provider calls and the number of workers.
package stages
