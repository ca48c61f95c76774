// Package profiles collects the profiles of a contender in a case: of processor time, and of what was allocated. Each sample has labels with the
// case, the contender and the number of resources, so that profiles of many cases can be looked at together.
//
// Invariant: only runs that are in no figure are profiled.
package profiles
