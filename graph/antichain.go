package graph

// Scope says which edges order the members of a subset among each other.
type Scope struct {
	// Kinds are the edges that count; 0 means [AllKinds].
	Kinds Kind
	// ThroughOthers also counts a path that leaves the subset and comes back: B depends on a node outside, which depends
	// on A. The layers of steps.md 5.3 step 2 look at direct dependencies only, so false gives what the specification
	// says. Set it for a [ReadySet] of deletes: rule 4 of that section keeps the transitive dependencies of what could
	// not be deleted, and only if A waits for B is it certain that A has not been deleted before B fails. It costs a
	// visit to everything the subset depends on.
	ThroughOthers bool
}

// Antichains splits the subset into layers for deletion (steps.md 5.3 step 2). Layers come in the order in which they are
// deleted: dependents before what they depend on. No member of a layer depends on another member of it. What depends on
// nothing in the subset is in the last layer, and everything else is one layer before the first of its dependencies; so
// independent members may still wait for each other, which a [ReadySet] avoids. Each layer ascends by ID.
//
// The error is a [*CycleError] or nil. The cost is linear in the subset and its edges.
func (g *Graph) Antichains(subset []ID, scope Scope) ([][]ID, error) {
	if len(subset) == 0 {
		return nil, nil
	}
	s := g.induce(subset, scope.Kinds, scope.ThroughOthers)
	// above[i] is the lowest level that a node depending on i can have.
	above := make([]int32, len(s.ids))
	levels := int32(0)
	err := s.visitTopologically(func(i int32) {
		for _, d := range s.dependencies.of(i) {
			above[i] = max(above[i], above[d])
		}
		if s.isMember(i) {
			above[i]++
			levels = max(levels, above[i])
		}
	})
	if err != nil {
		return nil, err
	}
	layers := make([][]ID, levels)
	for i := range s.members {
		at := levels - above[i]
		layers[at] = append(layers[at], s.ids[i])
	}
	return layers, nil
}
