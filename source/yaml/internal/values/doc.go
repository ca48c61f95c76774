// Package values adds to package property the operations on values that the evaluation of a YAML program needs: it removes the marks of a
// value and puts them back after a calculation, and shows plain data in texts and messages.
//
// It does not handle expressions.
//
// Invariant: a result with the marks of its operands is secret if one of them is, and depends on the same resources.
package values
