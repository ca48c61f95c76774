package graph

import "slices"

// Scope defines which edges order the members of a subset among each other.
type Scope struct {
	// Kinds are the edges that count; 0 means [AllKinds].
	Kinds Kind
	// ThroughOthers also counts a path that leaves the subset and comes back: B depends on a node outside, which depends on
	// A. Pulumi looks at direct dependencies only, so false gives its layers. Set it for a [ReadySet] of deletes: rule 4 of
	// steps.md 5.3 keeps the transitive dependencies of an object that could not be deleted, and only if A waits for B is it
	// certain that A has not been deleted before B fails. It costs a visit to every dependency of the subset.
	ThroughOthers bool
}

// Antichains splits the subset into layers for deletion (steps.md 5.3). Layers come in the order in which they are deleted:
// dependents before their dependencies. No member of a layer depends on another member of it. A member without dependents in
// the subset is in the first layer, and every other member one layer after the last of its dependents. That is the layer in
// which a [ReadySet] of deletes would hand it out if all deletes took the same time. Each layer ascends by ID.
//
// The error is a [*CycleError] or nil. The cost is linear in the subset and its edges.
func (g *Graph) Antichains(subset []ID, scope Scope) ([][]ID, error) {
	if len(subset) == 0 {
		return nil, nil
	}
	s := g.induce(subset, scope.Kinds, scope.ThroughOthers)
	order := make([]int32, 0, len(s.ids))
	if err := s.visitTopologically(func(i int32) { order = append(order, i) }); err != nil {
		return nil, err
	}
	// at[i] is the number of layers up to and including that of node i; of a relay, up to that of its last dependent.
	at := make([]int32, len(s.ids))
	var layers [][]ID
	for _, i := range slices.Backward(order) {
		if s.isMember(i) {
			at[i]++
		}
		for _, d := range s.dependencies.of(i) {
			at[d] = max(at[d], at[i])
		}
	}
	for i := range s.members {
		for int(at[i]) > len(layers) {
			layers = append(layers, nil)
		}
		layers[at[i]-1] = append(layers[at[i]-1], s.ids[i])
	}
	return layers, nil
}
