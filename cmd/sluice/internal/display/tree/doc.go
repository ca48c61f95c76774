// Package tree arranges the events of an operation as a tree of components, with one node for each resource, whatever the number of
// its steps.
//
// It draws nothing and decides nothing; packages display and live draw it.
//
// Invariant: an event takes time proportional to the depth of its resource, whatever the number of resources, because every node has
// the counts of its subtree.
package tree
