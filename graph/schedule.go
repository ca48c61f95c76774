package graph

import "slices"

// Direction defines which end of an edge goes first.
type Direction uint8

const (
	// DependenciesFirst is the direction of creating and refreshing.
	DependenciesFirst Direction = iota
	// DependentsFirst is the direction of deleting (steps.md 5.3).
	DependentsFirst
)

// Schedule defines the order of the members of a subset.
type Schedule struct {
	Direction Direction
	Scope
}

// Scheduled is one entry of the list that [Graph.Schedule] returns.
type Scheduled struct {
	// Node is the member. A relay has none: it carries order from one member to another, and nothing is done for it.
	Node  ID
	Relay bool
	// After are the positions in the list of the entries that must be over before this one begins, ascending and all lower
	// than its own.
	After []ID
}

// Schedule lists the members of the subset in an order in which they can be handled one at a time, with the waits between
// them: the input of a [ReadySet]. Among the members that may come next, the one with the lowest ID comes first, or the
// highest when dependents go first, so the list keeps base order or its reverse as far as the graph allows. Repetitions in
// the subset count once.
//
// The error is a [*CycleError] or nil. The cost is linear in the subset and its edges, times a logarithm.
func (g *Graph) Schedule(subset []ID, how Schedule) ([]Scheduled, error) {
	if len(subset) == 0 {
		return nil, nil
	}
	s := g.induce(subset, how.Kinds, how.ThroughOthers)
	if err := s.visitTopologically(func(int32) {}); err != nil {
		return nil, err
	}
	before, after := s.dependencies, s.dependents
	less := func(a, b int32) bool { return a < b }
	if how.Direction == DependentsFirst {
		before, after = after, before
		less = func(a, b int32) bool { return a > b }
	}
	waits := s.waits(before)
	queue := heap{less: less}
	relays := []int32{}
	release := func(i int32) {
		if s.isMember(i) {
			queue.push(i)
		} else {
			relays = append(relays, i)
		}
	}
	for i, w := range waits {
		if w == 0 {
			release(int32(i))
		}
	}
	out := make([]Scheduled, 0, len(s.ids))
	place := make([]ID, len(s.ids))
	edges := make([]ID, 0, len(before.to))
	for len(relays) > 0 || queue.len() > 0 {
		var i int32
		if last := len(relays) - 1; last >= 0 {
			i, relays = relays[last], relays[:last]
		} else {
			i = queue.pop()
		}
		place[i] = ID(len(out))
		first := len(edges)
		for _, b := range before.of(i) {
			edges = append(edges, place[b])
		}
		entry := Scheduled{Relay: !s.isMember(i), After: edges[first:len(edges):len(edges)]}
		slices.Sort(entry.After)
		if !entry.Relay {
			entry.Node = s.ids[i]
		}
		out = append(out, entry)
		for _, next := range after.of(i) {
			if waits[next]--; waits[next] == 0 {
				release(next)
			}
		}
	}
	return out, nil
}
