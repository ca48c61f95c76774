// Package control controls a run: its contexts, its end, its failures, and its events and diagnostics.
//
// It is below the packages beside it and imports none of them. [Control.Fail] and [Control.Bail] are the only ways to record
// a failure.
package control
