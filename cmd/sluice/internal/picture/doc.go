// Package picture draws the screen of a terminal as SVG, for the documentation. Only tests use it: they compare the pictures with the
// output.
//
// Invariant: the same text on a screen of the same size is the same picture, byte for byte.
package picture
