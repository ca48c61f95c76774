// Package standard is the standard pipeline: the stages that a registration goes through, one file each, and the run that
// they work for.
//
//	register → lookup → (refresh) → import → check → analyze → diff → build → execute
//
// All provider I/O happens in the parallel stages (register, which constructs components, refresh, import, check, analyze, diff, execute). All decisions over shared state
// happen in stages with one writer that never does I/O: lookup owns names, build owns decisions. The shared parts of the stages are
// in the packages under stages/internal; this package joins them and is the only one that imports them all.
//
// Package stages has the items that pass between the stages. This package does not depend on where registrations come
// from (package source) or what surrounds a run (package sluice).
package standard
