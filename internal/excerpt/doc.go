// Package excerpt shows the line of a source file that a message is about, with carets under a part of it.
//
// It does not read files, and knows nothing of their formats.
//
// Invariant: an excerpt has two lines, and at most [longLine] characters of the source.
package excerpt
