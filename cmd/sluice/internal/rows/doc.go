// Package rows arranges the resources of a state as a tree, for tables of text: each below its parent.
//
// It is for what is recorded. What happens to resources during an operation is a tree of package display/tree.
//
// The one invariant: each resource has exactly one row, also in a damaged state with parents that are missing or that
// are each other's, and the order depends on parents, types and names alone. The cost is that of sorting.
package rows
