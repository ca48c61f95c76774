// Package control is how a run proceeds and ends: its contexts, what stops it, its failures, and its events and diagnostics.
//
// It is below the packages beside it and imports none of them. [Control.Fail] and [Control.Bail] are the only ways to record
// a failure.
package control
