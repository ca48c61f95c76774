// Package requests handles the requests of programs: it turns a registration into a goal for the pipeline.
//
// It completes requests (options of ancestors, default providers, transforms), answers calls of functions, and keeps the
// families that a `dependsOn` on a component waits for.
//
// Invariant: a request that is refused here has changed nothing, and everything that is admitted is answered.
package requests
