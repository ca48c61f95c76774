// Package jsonscan reads JSON text in one pass, without a tree of values in between.
//
// Callers make their own values of what they read, or cut large values out as slices of the text and read them later. It is not for values
// with Go types, which package encoding/json reads. Errors give the offset, and quote at most one byte of the text.
//
// Invariant: a text that a caller reads to the end is valid JSON, and every string and number has the value that encoding/json gives it. A
// value that is cut out has only balanced brackets: whoever reads it later finds the other mistakes.
package jsonscan
