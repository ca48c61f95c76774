package graph

import (
	"fmt"
	"slices"
)

// ID names a node. IDs are dense: the first node is 0, each further one is one more. The order of IDs is the order of the
// caller's list, and it breaks every tie.
type ID int32

// Edge is one neighbour of a node, with every kind of dependency between the two.
type Edge struct {
	ID   ID
	Kind Kind
}

// Graph is a set of nodes and of kinded edges between them. It may have cycles: [Graph.TopologicalOrder] reports them.
// The zero Graph is empty and ready to use. Any number of goroutines may read it while none writes.
type Graph struct {
	dependencies [][]Edge // by node, ascending by ID, one edge per neighbour
	dependents   [][]Edge // the same edges from the other end
	joins        []bool   // which nodes are join nodes; nil when none is
	climbs       bool     // whether an edge between two nodes other than joins runs to an ID that is not lower
	labels       map[[2]ID][]string
}

// Len returns the number of nodes, join nodes included. IDs run from 0 to Len()-1.
func (g *Graph) Len() int { return len(g.dependencies) }

// AddNode adds a node and returns its ID, which is the old Len. Edges may be given at once; this is the cheap way, with
// cost d log d for d edges. It panics if an edge names a node that does not exist or has no kind.
func (g *Graph) AddNode(dependencies ...Edge) ID {
	id := ID(g.Len())
	for _, e := range dependencies {
		g.check(id, e.ID, e.Kind)
	}
	own := merged(dependencies)
	g.dependencies = append(g.dependencies, own)
	g.dependents = append(g.dependents, nil)
	if g.joins != nil {
		g.joins = append(g.joins, false)
	}
	for _, e := range own {
		g.dependents[e.ID] = append(g.dependents[e.ID], Edge{id, e.Kind})
	}
	return id
}

// AddEdge records that from depends on to for the reasons in kind; kinds of one pair add up. An edge may close a cycle,
// and may run from a node to itself. It costs a binary search and, unless neighbours arrive in ascending order, a shift
// of the neighbours behind it; use a [Builder] for many edges in no order. It panics if a node does not exist or kind is
// empty.
func (g *Graph) AddEdge(from, to ID, kind Kind) {
	g.check(from, to, kind)
	if int(from) >= g.Len() {
		panic(fmt.Sprintf("graph: edge from node %d of a graph of %d nodes", from, g.Len()))
	}
	g.climbs = g.climbs || to >= from
	g.dependencies[from] = insert(g.dependencies[from], Edge{to, kind})
	g.dependents[to] = insert(g.dependents[to], Edge{from, kind})
}

// check allows from to be the node about to be added, so that one function serves both ways of adding.
func (g *Graph) check(from, to ID, kind Kind) {
	if from < 0 || int(from) > g.Len() || to < 0 || int(to) >= g.Len() {
		panic(fmt.Sprintf("graph: edge %d -> %d in a graph of %d nodes", from, to, g.Len()))
	}
	if kind == 0 || kind&^AllKinds != 0 {
		panic(fmt.Sprintf("graph: edge %d -> %d of kind %v", from, to, kind))
	}
}

// AddLabel attaches a name to the pair of nodes, such as the property that causes a [PropertyDependency]. Labels are for
// people: rendering and cycle messages show them, nothing else reads them. Labels of one pair are kept sorted, each once.
func (g *Graph) AddLabel(from, to ID, label string) {
	if g.labels == nil {
		g.labels = map[[2]ID][]string{}
	}
	key := [2]ID{from, to}
	at, found := slices.BinarySearch(g.labels[key], label)
	if !found {
		g.labels[key] = slices.Insert(g.labels[key], at, label)
	}
}

// Labels returns the labels of the pair in ascending order. The result must not be changed.
func (g *Graph) Labels(from, to ID) []string { return g.labels[[2]ID{from, to}] }

// Dependencies returns the direct dependencies of id, ascending by ID. The result must not be changed, and later
// additions to the graph may or may not show in it.
func (g *Graph) Dependencies(id ID) []Edge { return g.dependencies[id] }

// Dependents returns the direct dependents of id, ascending by ID, under the same conditions as [Graph.Dependencies].
func (g *Graph) Dependents(id ID) []Edge { return g.dependents[id] }

// Kinds returns the kinds of the edge from one node to another, 0 if there is none. It costs a binary search.
func (g *Graph) Kinds(from, to ID) Kind {
	edges := g.dependencies[from]
	if at, found := search(edges, to); found {
		return edges[at].Kind
	}
	return 0
}

// IsJoin reports whether id is one of the join nodes that [Graph.ExpandComponents] adds. They represent many edges, are
// never part of an answer and never passed to a callback.
func (g *Graph) IsJoin(id ID) bool { return g.joins != nil && g.joins[id] }

func search(edges []Edge, id ID) (int, bool) {
	return slices.BinarySearchFunc(edges, id, func(e Edge, id ID) int { return int(e.ID) - int(id) })
}

// insert keeps edges ascending. Appending is by far the most common case, as new nodes have the highest IDs.
func insert(edges []Edge, e Edge) []Edge {
	if n := len(edges); n == 0 || edges[n-1].ID < e.ID {
		return append(edges, e)
	}
	at, found := search(edges, e.ID)
	if found {
		edges[at].Kind |= e.Kind
		return edges
	}
	return slices.Insert(edges, at, e)
}

// merged returns a sorted copy with one edge per neighbour.
func merged(edges []Edge) []Edge {
	if len(edges) == 0 {
		return nil
	}
	out := slices.Clone(edges)
	slices.SortFunc(out, func(a, b Edge) int { return int(a.ID) - int(b.ID) })
	n := 1
	for _, e := range out[1:] {
		if e.ID == out[n-1].ID {
			out[n-1].Kind |= e.Kind
			continue
		}
		out[n] = e
		n++
	}
	return slices.Clip(out[:n])
}
