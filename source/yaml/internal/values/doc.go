// Package values has what the evaluation of a YAML program needs of values beyond package property: taking the marks off a
// value, calculating with what is inside and putting them back, and showing plain data in texts and messages.
//
// It does not handle expressions.
//
// Invariant: what is calculated from a secret and marked with its marks is secret, and depends on the same resources.
package values
