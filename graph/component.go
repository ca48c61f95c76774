package graph

import "slices"

// Components defines which nodes are components and which their children are.
type Components struct {
	// IsComponent reports whether a node is a component. It must be set.
	IsComponent func(ID) bool
	// Parent returns a node's parent, false if it has none; nil means the highest dependency of kind [Parent] with an ID
	// below the node's own. A parent with an ID that is not below the child's does not count.
	Parent func(ID) (ID, bool)
	// Kinds are the edges to a component that are also edges to its children; 0 means [NotParent]. A child does not
	// depend on its siblings just because they have the same parent.
	Kinds Kind
}

// ExpandComponents returns a copy of the graph in which every node that depends on a component also depends on those of
// the component's transitive children that have a lower ID than the node (steps.md 5.3 step 2). Later children are left
// out, or a child that depends on its own component would close a cycle.
//
// The edges are not written out, as their number can be quadratic. One join node represents a run of children and is
// shared by all nodes that depend on at least those. Join nodes get the IDs after the existing ones. No query returns
// them, and every query follows them under the kinds of the edge to the component. With n nodes and e edges to components
// there are at most (n+e) log n of them; usually all children precede the dependents, and there are about n/3.
func (g *Graph) ExpandComponents(c Components) *Graph {
	b := &Builder{}
	b.AddNodes(g.Len())
	edges := 0
	for _, deps := range g.dependencies {
		edges += len(deps)
	}
	b.Grow(edges + edges/2)
	for id := range ID(g.Len()) {
		if g.IsJoin(id) {
			b.joins = append(b.joins, id)
		}
	}
	x := expansion{
		b: b, tree: newForest(g, c.Parent), kinds: c.Kinds.or(NotParent), isComponent: c.IsComponent,
		shared: map[ID]sharedJoin{},
	}
	x.cover = newCover(b, g.Len())
	for id := range ID(g.Len()) {
		for _, e := range g.dependencies[id] {
			b.edges = append(b.edges, builderEdge{id, e.ID, e.Kind})
			if !g.IsJoin(id) {
				x.expand(id, e)
			}
		}
		// id becomes visible only now: a node depends on the children before it.
		x.cover.insert(x.tree.first[id], id)
	}
	out := b.Graph()
	out.labels = g.cloneLabels()
	return out
}

func (g *Graph) cloneLabels() map[[2]ID][]string {
	if g.labels == nil {
		return nil
	}
	out := make(map[[2]ID][]string, len(g.labels))
	for key, labels := range g.labels {
		out[key] = slices.Clone(labels)
	}
	return out
}

type expansion struct {
	b           *Builder
	tree        forest
	cover       *cover
	kinds       Kind
	isComponent func(ID) bool
	shared      map[ID]sharedJoin // by component
}

// sharedJoin is the last join made for a component; it is valid until another child appears.
type sharedJoin struct {
	parts []ID
	join  ID
}

func (x *expansion) expand(id ID, e Edge) {
	kinds := e.Kind & x.kinds
	if kinds == 0 || x.tree.size[e.ID] == 1 || !x.isComponent(e.ID) {
		return
	}
	lo := x.tree.first[e.ID] + 1
	parts := x.cover.parts(lo, lo+x.tree.size[e.ID]-1)
	switch len(parts) {
	case 0:
	case 1:
		x.b.edges = append(x.b.edges, builderEdge{id, parts[0], kinds})
	default:
		last, found := x.shared[e.ID]
		if !found || !slices.Equal(last.parts, parts) {
			last = sharedJoin{parts, x.b.addJoin(parts)}
			x.shared[e.ID] = last
		}
		x.b.edges = append(x.b.edges, builderEdge{id, last.join, kinds})
	}
}

// forest numbers nodes so that a node and its transitive children are a run: first[id] up to, not including,
// first[id]+size[id].
type forest struct{ first, size []int32 }

func newForest(g *Graph, parentOf func(ID) (ID, bool)) forest {
	if parentOf == nil {
		parentOf = g.lastParent
	}
	n := g.Len()
	f := forest{first: make([]int32, n), size: make([]int32, n)}
	parent := make([]ID, n)
	for id := range ID(n) {
		parent[id] = -1
		if p, found := parentOf(id); !g.IsJoin(id) && found && p >= 0 && p < id {
			parent[id] = p
		}
	}
	// Parents come before their children, so one pass down sums up the sizes and one pass up deals out the places.
	for id := n - 1; id >= 0; id-- {
		f.size[id]++
		if p := parent[id]; p >= 0 {
			f.size[p] += f.size[id]
		}
	}
	free := make([]int32, n) // the next free place among the children of a node
	roots := int32(0)
	for id := range n {
		place := &roots
		if p := parent[id]; p >= 0 {
			place = &free[p]
		}
		f.first[id] = *place
		*place += f.size[id]
		free[id] = f.first[id] + 1
	}
	return f
}

func (g *Graph) lastParent(id ID) (ID, bool) {
	for _, e := range slices.Backward(g.dependencies[id]) {
		if e.Kind&Parent != 0 && e.ID < id {
			return e.ID, true
		}
	}
	return 0, false
}
