// Package estimate estimates how long an operation will still take, from recorded durations of the same operations.
//
// If too little is recorded, there is no estimate.
//
// Invariant: the record of a stack has a bounded size, and contains no names and no values of resources.
package estimate
