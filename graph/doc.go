// Package graph holds a dependency graph over plain integers and the questions an engine asks of it: what depends on
// this node, in which order can these nodes be handled, which of them can be handled together, which one may start now,
// and where is the cycle.
//
// It is not for resources. A node is an [ID] and an edge is a set of [Kind]s; names, states and providers are the
// caller's. It is not a store either: edges are added and never taken back. Build a new graph when the base changes.
//
// The caller gives out IDs in the order of its list, so ascending ID is list order ("base order"). An edge runs from a
// node to what it depends on.
//
// The one invariant: every answer depends only on the nodes, the edges and the arguments, never on the order in which
// edges were added, on map iteration or on which goroutine was first; and no question costs more than the part of the
// graph it has to look at, times a logarithm.
//
// A [Graph] may be read by many goroutines as long as none adds to it, like a map. [ReadySet] and [Closure] copy what they
// need when they are made, so the graph may grow while they are in use.
package graph
