// Package listing has a provider list the existing resources of a type, and makes a list for an import of them.
//
// It imports nothing.
//
// Invariant: an object that the stack manages already keeps its name and its parent in the list.
package listing
