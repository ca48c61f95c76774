// Package plots draws reports: one picture for each case, and a page with all of them.
//
// Invariant: both axes are logarithmic, so that growth with a power of the size is a straight line.
package plots
