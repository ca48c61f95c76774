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
