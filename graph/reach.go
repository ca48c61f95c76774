package graph

import "slices"

// Reach defines which edges and nodes a transitive query follows.
type Reach struct {
	// Kinds are the edges to follow; 0 means [AllKinds]. An edge counts if it has at least one of them.
	Kinds Kind
	// Skip, if not nil, rules nodes out: a skipped node is neither reported nor followed (steps.md 3.11, "ignoring
	// impossible"). It is not called for roots, and at most once for each other node.
	Skip func(ID) bool
}

// TransitiveDependents returns all nodes that depend on a root, directly or through others, ascending by ID. Roots are
// not part of the answer, even if one depends on another. The cost is the edges around the answer, plus sorting it,
// independent of the size of the graph.
func (g *Graph) TransitiveDependents(roots []ID, r Reach) []ID {
	return g.reach(roots, r, g.dependents)
}

// TransitiveDependencies returns all nodes that a root depends on, directly or through others, ascending by ID, under the
// same conditions as [Graph.TransitiveDependents].
func (g *Graph) TransitiveDependencies(roots []ID, r Reach) []ID {
	return g.reach(roots, r, g.dependencies)
}

func (g *Graph) reach(roots []ID, r Reach, next [][]Edge) []ID {
	kinds := r.Kinds.or(AllKinds) | member
	seen := newIndex(g.Len(), len(roots))
	var todo, found []ID
	for _, id := range roots {
		if seen.add(id) {
			todo = append(todo, id)
		}
	}
	for len(todo) > 0 {
		id := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, e := range next[id] {
			if e.Kind&kinds == 0 || !seen.add(e.ID) {
				continue
			}
			if !g.IsJoin(e.ID) {
				if r.Skip != nil && r.Skip(e.ID) {
					continue
				}
				found = append(found, e.ID)
			}
			todo = append(todo, e.ID)
		}
	}
	slices.Sort(found)
	return found
}
