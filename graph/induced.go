package graph

import "slices"

// induced is the part of a graph that one query concerns: its members, the relays between them, and the edges among all of
// those under local numbers. Members come first, ascending by ID, so comparing local numbers of members compares IDs.
// Relays follow: join nodes, and, on request, nodes outside the members through which members depend on each other. A
// relay carries order from one member to another and is not a member itself.
type induced struct {
	g            *Graph
	kinds        Kind
	ids          []ID
	members      int
	at           *index
	dependencies adjacency
	dependents   adjacency
}

// adjacency is a graph in two arrays: the neighbours of i are to[start[i]:start[i+1]].
type adjacency struct{ start, to []int32 }

func (a adjacency) of(i int32) []int32 { return a.to[a.start[i]:a.start[i+1]] }

func (a adjacency) degree(i int32) int32 { return a.start[i+1] - a.start[i] }

func (a adjacency) reversed() adjacency {
	n := len(a.start) - 1
	r := adjacency{start: make([]int32, n+1), to: make([]int32, len(a.to))}
	for _, t := range a.to {
		r.start[t+1]++
	}
	for i := range n {
		r.start[i+1] += r.start[i]
	}
	next := slices.Clone(r.start)
	for i := range int32(n) {
		for _, t := range a.of(i) {
			r.to[next[t]] = i
			next[t]++
		}
	}
	return r
}

// induce cuts out the given nodes, or all if nodes is nil.
func (g *Graph) induce(nodes []ID, kinds Kind, through bool) *induced {
	s := &induced{g: g, kinds: kinds.or(AllKinds) | member}
	if nodes == nil {
		nodes = g.nodes()
	} else {
		nodes = slices.Clone(nodes)
		slices.Sort(nodes)
		nodes = slices.Compact(nodes)
		nodes = slices.DeleteFunc(nodes, g.IsJoin)
	}
	s.ids, s.members = nodes, len(nodes)
	s.at = newIndex(g.Len(), len(nodes))
	for _, id := range nodes {
		s.at.add(id)
	}
	s.addRelays(through)
	s.connect()
	return s
}

// nodes returns every node that is not a join.
func (g *Graph) nodes() []ID {
	out := make([]ID, 0, g.Len())
	for id := range ID(g.Len()) {
		if !g.IsJoin(id) {
			out = append(out, id)
		}
	}
	return out
}

func (s *induced) addRelays(through bool) {
	if s.g.joins == nil && !through || len(s.ids) == 0 {
		return
	}
	// If every edge runs to a lower ID, no path from member to member passes below the lowest of them.
	lowest := s.ids[0]
	if s.g.climbs {
		lowest = -1
	}
	for i := 0; i < len(s.ids); i++ {
		for _, e := range s.g.dependencies[s.ids[i]] {
			relays := s.g.IsJoin(e.ID) || through && e.ID > lowest
			if relays && e.Kind&s.kinds != 0 && s.at.add(e.ID) {
				s.ids = append(s.ids, e.ID)
			}
		}
	}
}

func (s *induced) connect() {
	a := adjacency{start: make([]int32, 1, len(s.ids)+1)}
	for _, id := range s.ids {
		for _, e := range s.g.dependencies[id] {
			if e.Kind&s.kinds == 0 {
				continue
			}
			if t, found := s.at.at(e.ID); found {
				a.to = append(a.to, t)
			}
		}
		a.start = append(a.start, int32(len(a.to)))
	}
	s.dependencies = a
	s.dependents = a.reversed()
}

func (s *induced) isMember(i int32) bool { return int(i) < s.members }

// waits returns how many neighbours each node has to wait for.
func (s *induced) waits(before adjacency) []int32 {
	w := make([]int32, len(s.ids))
	for i := range w {
		w[i] = before.degree(int32(i))
	}
	return w
}

// visitTopologically visits every node after its dependencies, in no particular order, and returns the cycle that prevents it.
func (s *induced) visitTopologically(visit func(i int32)) error {
	waits := s.waits(s.dependencies)
	todo := make([]int32, 0, len(s.ids))
	for i, w := range waits {
		if w == 0 {
			todo = append(todo, int32(i))
		}
	}
	for n := 0; n < len(todo); n++ {
		visit(todo[n])
		for _, d := range s.dependents.of(todo[n]) {
			if waits[d]--; waits[d] == 0 {
				todo = append(todo, d)
			}
		}
	}
	if len(todo) < len(s.ids) {
		return s.cycle(waits)
	}
	return nil
}
