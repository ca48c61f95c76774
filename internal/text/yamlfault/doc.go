// Package yamlfault finds the place of a mistake in the syntax of a YAML text. The errors of the parser name a line at most.
//
// It does not judge texts: the parser decides what a mistake is. The package parses parts of the text to find where the message begins to apply.
//
// Invariant: a place is inside of the text, and never behind its last character that is no space.
package yamlfault
