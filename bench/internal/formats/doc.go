// Package formats writes reports for people and for other programs, and compares two of them.
//
// Invariant: JSON has everything; the other forms have nothing that JSON lacks.
package formats
