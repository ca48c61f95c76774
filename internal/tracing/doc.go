// Package tracing makes spans of an operation, its program, each resource with its stages and steps, and each provider call. It uses only
// the tracer of the span in the caller's context; without one it is not used at all.
//
// It exports nothing and decides nothing: it only observes.
//
// Invariant: attributes are names, kinds and counts. A span contains no value of a property, no text of an error and no message, because
// any of these may contain a secret.
package tracing
