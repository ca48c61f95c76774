package graph

import (
	"fmt"
	"slices"
)

// Builder collects nodes and edges in any order and makes a [Graph] of them in linear time, with all edges in two arrays.
// The zero Builder is ready to use. It belongs to one goroutine.
type Builder struct {
	nodes int
	joins []ID
	edges []builderEdge
}

type builderEdge struct {
	from, to ID
	kind     Kind
}

// Grow makes room for that many more edges.
func (b *Builder) Grow(edges int) {
	if free := cap(b.edges) - len(b.edges); free < edges {
		b.edges = append(make([]builderEdge, 0, len(b.edges)+edges), b.edges...)
	}
}

// AddNode adds a node and returns its ID: 0 for the first, then one more each time.
func (b *Builder) AddNode() ID { return b.AddNodes(1) }

// AddNodes adds n nodes and returns the ID of the first.
func (b *Builder) AddNodes(n int) ID {
	first := ID(b.nodes)
	b.nodes += n
	return first
}

// AddEdge records that from depends on to. Kinds of one pair add up. The nodes may be added later. It panics if kind is
// empty.
func (b *Builder) AddEdge(from, to ID, kind Kind) {
	if kind == 0 || kind&^AllKinds != 0 {
		panic(fmt.Sprintf("graph: edge %d -> %d of kind %v", from, to, kind))
	}
	b.edges = append(b.edges, builderEdge{from, to, kind})
}

// addJoin adds a join node that represents the given parts.
func (b *Builder) addJoin(parts []ID) ID {
	id := b.AddNode()
	b.joins = append(b.joins, id)
	for _, p := range parts {
		b.edges = append(b.edges, builderEdge{id, p, member})
	}
	return id
}

// Graph returns the graph. It panics if an edge names a node that was never added. The Builder may be used further, without
// effect on the graphs it has returned.
func (b *Builder) Graph() *Graph {
	for _, e := range b.edges {
		if e.from < 0 || e.to < 0 || int(e.from) >= b.nodes || int(e.to) >= b.nodes {
			panic(fmt.Sprintf("graph: edge %d -> %d in a graph of %d nodes", e.from, e.to, b.nodes))
		}
	}
	// A stable sort by target and then by source leaves each node's edges next to each other and ascending.
	to := func(e builderEdge) ID { return e.to }
	from := func(e builderEdge) ID { return e.from }
	edges := mergeRuns(countingSort(countingSort(b.edges, b.nodes, to), b.nodes, from))

	g := &Graph{dependencies: split(edges, b.nodes, from, to)}
	// edges ascend by source, so the second split sees the dependents of each node in ascending order.
	g.dependents = split(edges, b.nodes, to, from)
	if len(b.joins) > 0 {
		g.joins = make([]bool, b.nodes)
		for _, id := range b.joins {
			g.joins[id] = true
		}
	}
	g.climbs = slices.ContainsFunc(edges, func(e builderEdge) bool { return e.to >= e.from && !g.IsJoin(e.from) && !g.IsJoin(e.to) })
	return g
}

// countingSort returns a stably sorted copy.
func countingSort(edges []builderEdge, nodes int, key func(builderEdge) ID) []builderEdge {
	start := offsets(edges, nodes, key)
	out := make([]builderEdge, len(edges))
	for _, e := range edges {
		k := key(e)
		out[start[k]] = e
		start[k]++
	}
	return out
}

// offsets returns, for each key, how many edges have a smaller key; one more entry holds the total.
func offsets(edges []builderEdge, nodes int, key func(builderEdge) ID) []int32 {
	start := make([]int32, nodes+1)
	for _, e := range edges {
		start[key(e)+1]++
	}
	for i := range nodes {
		start[i+1] += start[i]
	}
	return start
}

// mergeRuns merges, in place, neighbours that join the same two nodes.
func mergeRuns(edges []builderEdge) []builderEdge {
	n := 0
	for _, e := range edges {
		if n > 0 && edges[n-1].from == e.from && edges[n-1].to == e.to {
			edges[n-1].kind |= e.kind
			continue
		}
		edges[n] = e
		n++
	}
	return edges[:n]
}

// split gives each node a window of one shared array. The windows have no spare capacity, so an edge that is added later
// moves its node's list away and leaves the neighbours alone.
func split(edges []builderEdge, nodes int, node, neighbour func(builderEdge) ID) [][]Edge {
	start := offsets(edges, nodes, node)
	flat := make([]Edge, len(edges))
	next := make([]int32, nodes)
	copy(next, start)
	for _, e := range edges {
		k := node(e)
		flat[next[k]] = Edge{neighbour(e), e.kind}
		next[k]++
	}
	out := make([][]Edge, nodes)
	for i := range nodes {
		if lo, hi := start[i], start[i+1]; lo < hi {
			out[i] = flat[lo:hi:hi]
		}
	}
	return out
}
