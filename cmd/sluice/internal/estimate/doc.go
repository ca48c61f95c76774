// Package estimate says how long an operation will still take, from how long the same operations took before, and remembers that.
//
// It promises nothing: where too little is known, it says nothing.
//
// Invariant: what is remembered of a stack has a bounded size, and has no names and no values of resources in it.
package estimate
