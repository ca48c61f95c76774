// Package compression compresses the files of a backend and names the compressed ones (state.md 4.5).
//
// Invariant: reading looks at the content, never at the name.
package compression
