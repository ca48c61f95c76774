// Package excerpt shows a line of a source file, with carets under a part of it, for messages.
//
// It does not read files, and is independent of their formats.
//
// Invariant: an excerpt has two lines, and at most [longLine] characters of the source.
package excerpt
