// Package align finds what two sequences have in common: lines of texts, words of lines, items of arrays.
//
// It knows nothing of values, secrets or screens. It looks for a good answer and not for the best one, because that would
// take time that is quadratic in the length.
//
// Invariant: the cost of each function is at most proportional to n log n, where n is the length of what it is given, and its answer depends on
// nothing else than that.
package align
