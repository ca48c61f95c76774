// Package location opens the store that the URL of a backend names (state.md 4.2).
//
// Invariant: nothing is made but the directory that a URL asks for with create_dir.
package location
