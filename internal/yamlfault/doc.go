// Package yamlfault finds the place of a syntax error in a YAML text. The library that parses the text reports at most its line.
//
// It does not decide what is an error: the library does.
//
// Invariant: a place is inside the text, and not after its last character that is not space.
package yamlfault
