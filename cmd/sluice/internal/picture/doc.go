// Package picture draws what a terminal shows as SVG, for the pages of the documentation. Only tests use it: they keep the pictures true.
//
// Invariant: the same text on a screen of the same size is the same picture, byte for byte.
package picture
