// Package yamlfault finds the place of a mistake in the syntax of a YAML text, which the library that reads the text names by its line at most.
//
// It does not judge texts: what is a mistake is for that library to say.
//
// Invariant: a place is inside of the text, and never behind its last character that is no space.
package yamlfault
