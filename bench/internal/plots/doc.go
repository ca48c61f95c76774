// Package plots draws reports: one picture for each case, and a page with all of them.
//
// Invariant: both axes are logarithmic, so that what is linear in the size has the slope of the diagonal in every picture.
package plots
