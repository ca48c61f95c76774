package graph

import (
	"cmp"
	"slices"
)

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

// cycle finds a cycle among the nodes that still wait. Each of them waits for another one of them, so a walk must come
// back to a node; the shortest cycle through the lowest node of that walk is reported.
func (s *induced) cycle(waits []int32) *CycleError {
	stuck := func(i int32) bool { return waits[i] > 0 }
	at := int32(slices.IndexFunc(waits, func(w int32) bool { return w > 0 }))
	step := map[int32]int{}
	var walk []int32
	for {
		if first, again := step[at]; again {
			walk = walk[first:]
			break
		}
		step[at] = len(walk)
		walk = append(walk, at)
		deps := s.dependencies.of(at)
		at = deps[slices.IndexFunc(deps, stuck)]
	}
	start := slices.MinFunc(walk, func(a, b int32) int { return s.compare(a, b) })
	return s.describeCycle(s.shortestRound(start, stuck))
}

// compare puts real nodes before joins and orders them by ID, so that a path never starts at a join.
func (s *induced) compare(a, b int32) int {
	ja, jb := s.g.IsJoin(s.ids[a]), s.g.IsJoin(s.ids[b])
	switch {
	case ja == jb:
		return int(s.ids[a]) - int(s.ids[b])
	case ja:
		return 1
	default:
		return -1
	}
}

// shortestRound returns a shortest path from start to itself, searched breadth first.
func (s *induced) shortestRound(start int32, stuck func(int32) bool) []int32 {
	cameFrom := map[int32]int32{}
	queue := []int32{start}
	for n := 0; n < len(queue); n++ {
		at := queue[n]
		for _, d := range s.dependencies.of(at) {
			if d == start {
				path := []int32{at}
				for at != start {
					at = cameFrom[at]
					path = append(path, at)
				}
				slices.Reverse(path)
				return path
			}
			if _, seen := cameFrom[d]; !seen && stuck(d) {
				cameFrom[d] = at
				queue = append(queue, d)
			}
		}
	}
	panic("graph: no way round from a node on a cycle")
}

// describeCycle leaves join nodes out: the edge into a join carries the kinds of the edge to the component.
func (s *induced) describeCycle(path []int32) *CycleError {
	e := &CycleError{}
	for n, i := range path {
		id := s.ids[i]
		if s.g.IsJoin(id) {
			continue
		}
		next := s.ids[path[(n+1)%len(path)]]
		e.Path = append(e.Path, CycleStep{
			ID:     id,
			Kind:   s.g.Kinds(id, next) & s.kinds,
			Labels: slices.Clone(s.g.Labels(id, next)),
		})
	}
	least := 0
	for i, step := range e.Path {
		if step.ID < e.Path[least].ID {
			least = i
		}
	}
	e.Path = slices.Concat(e.Path[least:], e.Path[:least])
	return e
}

func (s *induced) byPriority(priority func(ID) int64) func(a, b int32) bool {
	if priority == nil {
		return func(a, b int32) bool { return a < b }
	}
	of := make([]int64, s.members)
	for i := range of {
		of[i] = priority(s.ids[i])
	}
	return func(a, b int32) bool {
		if c := cmp.Compare(of[a], of[b]); c != 0 {
			return c < 0
		}
		return a < b
	}
}
