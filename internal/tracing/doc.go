// Package tracing makes spans of what an operation does: of the operation, its program, each resource with its stages and steps, and each
// call of a provider. It uses the tracer of the span that the caller's context has, and no other; without one it is not used at all.
//
// It exports nothing, and it decides nothing: all it does is to look on.
//
// Invariant: attributes are names, kinds and counts. No value of a property, no text of an error and no message is in a span, as any of
// these may contain a secret.
package tracing
