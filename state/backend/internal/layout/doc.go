// Package layout names the files of a backend (state.md 4.4): which key of a store belongs to what, and to which stack.
//
// Invariant: it computes, and reads and writes nothing. Each name is in one place.
package layout
