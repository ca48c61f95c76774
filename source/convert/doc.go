// Package convert has programs and states of other tools converted, by converter plugins (protocol.md 5.6).
//
// It knows nothing of the tools: what it serves to converters says how the names of their providers correspond to those of
// packages, and what packages consist of.
//
// Invariant: a converter that was started has ended, with everything that it started, when it is closed.
package convert
