// Package tree arranges what the events of an operation say of each resource as the tree of components that people know:
// one node for each resource, whatever the number of its steps.
//
// It draws nothing and decides nothing; see packages display and live for what draws it.
//
// Invariant: an event costs the depth of its resource, whatever the number of resources, because every node has the counts of what is
// below it.
package tree
