// Package layout names the files of a backend (state.md 4.4): it maps keys of a store to stacks and purposes, and back.
//
// Invariant: it only computes, and reads and writes nothing. Each name is in one place.
package layout
