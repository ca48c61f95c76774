// Package align finds the common elements of two sequences: lines of texts, words of lines, items of arrays.
//
// It is independent of values, secrets and screens. It looks for a good answer instead of the best one, which would take quadratic time.
//
// Invariant: the cost of each function is at most proportional to n log n, where n is the length of its arguments, and its result depends only
// on its arguments.
package align
