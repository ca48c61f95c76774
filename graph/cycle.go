package graph

import (
	"slices"
	"strconv"
	"strings"
)

// CycleError reports that nodes wait for each other. If a graph has several cycles, the choice depends only on the
// graph.
type CycleError struct {
	// Path is the cycle in order: each node depends on the next one, and the last on the first. The first has the lowest
	// ID of the path. Edge kinds outside the query's mask are left out.
	Path []CycleStep
}

// CycleStep is one node of a cycle, with its edge to the next.
type CycleStep struct {
	ID     ID
	Kind   Kind
	Labels []string // of the edge to the next node, ascending; often empty
}

// Error prints the path with plain IDs. Use [CycleError.Format] for names.
func (e *CycleError) Error() string {
	return "dependency cycle: " + e.Format(func(id ID) string { return strconv.Itoa(int(id)) })
}

// Format prints the path on one line, such as "a -[provider]-> b -[dependency]-> a".
func (e *CycleError) Format(name func(ID) string) string {
	var b strings.Builder
	for _, step := range e.Path {
		b.WriteString(name(step.ID))
		b.WriteString(" -[")
		b.WriteString(describe(step.Kind, step.Labels))
		b.WriteString("]-> ")
	}
	if len(e.Path) > 0 {
		b.WriteString(name(e.Path[0].ID))
	}
	return b.String()
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
