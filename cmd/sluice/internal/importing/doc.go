// Package importing runs the import of a list of resources: what is recorded already is said, what cannot be imported is left out, and what is left
// in the end is written to a list that can be imported again.
//
// It makes no list itself, and does not decide what is imported already: the engine does.
//
// Invariant: after an import, each resource of the list is recorded or in the list of those that are left.
package importing
