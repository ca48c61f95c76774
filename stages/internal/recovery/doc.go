// Package recovery resolves interrupted creates before the program starts: it looks for the objects that they may have made, and
// adopts those that exist (state.md 9.4).
//
// Invariant: a create whose outcome is not certain stays pending.
package recovery
