// Package rows arranges the resources of a state as a tree, for text tables: each below its parent.
//
// It is for recorded states. Package display/tree arranges the resources of an operation.
//
// Invariant: each resource has exactly one row, even in a damaged state with missing parents or cycles of parents,
// and the order depends on parents, types and names alone. The cost is that of sorting.
package rows
