// Package control is how a run goes on and how it ends: its contexts, what stops it, what went wrong, and what is told to
// whoever watches.
//
// It is the floor of the rooms beside it: it imports none of them. [Control.Fail] and [Control.Bail] are the only doors
// through which a run learns of a failure.
package control
