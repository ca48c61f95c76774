// Package graph implements a dependency graph over plain integers, and answers the questions of an engine: What depends
// on a node? In which order can nodes be handled, and which of them together? Which node may start now? Where is the
// cycle?
//
// A node is an [ID] and an edge is a set of [Kind]s; the caller keeps resources, names, states and providers. Edges can
// be added but not removed. Build a new graph when the base changes.
//
// The caller assigns IDs in the order of its list, so ascending ID is list order ("base order"). An edge runs from a
// node to a node that it depends on.
//
// Invariant: every answer depends only on the nodes, the edges and the arguments. It does not depend on the order in
// which edges were added, on map iteration or on the order of goroutines. The cost of a query is at most the size of
// the part of the graph that it concerns, times a logarithm.
//
// Like a map, a [Graph] may be read by many goroutines as long as none adds to it. [ReadySet] and [Closure] copy what they
// need when they are created, so the graph may grow while they are in use.
package graph
