// Package requests handles the requests of programs: it turns a registration into a goal for the pipeline.
//
// It completes requests (options of ancestors, default providers, transforms), answers calls of functions, and keeps the families
// for a `dependsOn` on a component.
//
// Invariant: a refused request has changed nothing, and every admitted one is answered.
package requests
