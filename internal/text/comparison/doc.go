// Package comparison finds the differences between two values that people care about: it matches items of arrays by identity, whatever their
// index, and compares texts that hold JSON or YAML by value.
//
// It decides nothing and shows nothing. Package property compares values for decisions about provider calls.
//
// Invariant: the same values have the same differences, and the time is at most proportional to n log n, where n is the size of the values.
package comparison
