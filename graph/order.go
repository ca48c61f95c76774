package graph

import "cmp"

// Order says which nodes to order and how.
type Order struct {
	// Nodes are the nodes to order; nil means all, an empty slice none. Repetitions count once.
	Nodes []ID
	// Kinds are the edges that count; 0 means [AllKinds].
	Kinds Kind
	// Priority breaks ties: of the nodes whose dependencies have all been placed the one with the lowest priority comes
	// next, then the one with the lowest ID. nil means by ID alone. It is asked once for each node.
	Priority func(ID) int64
}

// TopologicalOrder returns the nodes so that each comes after everything it depends on. The result depends only on the
// graph and the priorities. If listing the nodes by priority is already a valid order, it is the result: a snapshot whose
// resources have their old positions as priorities keeps its order (state.md 1.11, 3.4). Only edges between the given
// nodes count. The error is a [*CycleError] or nil. The cost is linear in nodes and edges, times the logarithm of the
// number of nodes that wait at once.
func (g *Graph) TopologicalOrder(o Order) ([]ID, error) {
	s := g.induce(o.Nodes, o.Kinds, false)
	waits := s.waits(s.dependencies)
	ready := heap{less: s.byPriority(o.Priority)}
	// A join is handled before anything else is placed, or it would hold back a node that could come next.
	var joins []int32
	release := func(i int32) {
		if s.isMember(i) {
			ready.push(i)
		} else {
			joins = append(joins, i)
		}
	}
	finish := func(i int32) {
		for _, d := range s.dependents.of(i) {
			if waits[d]--; waits[d] == 0 {
				release(d)
			}
		}
	}
	for i, w := range waits {
		if w == 0 {
			release(int32(i))
		}
	}
	out := make([]ID, 0, s.members)
	for len(joins) > 0 || ready.len() > 0 {
		if n := len(joins); n > 0 {
			i := joins[n-1]
			joins = joins[:n-1]
			finish(i)
			continue
		}
		i := ready.pop()
		out = append(out, s.ids[i])
		finish(i)
	}
	if len(out) < s.members {
		return nil, s.cycle(waits)
	}
	return out, nil
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

// PostOrder is the order that repairing a snapshot uses (state.md 1.15): visit the nodes in the given order, depth first,
// and place each one after its dependencies, which are visited in ascending order. Only edges between the given nodes
// count; nil means all nodes in ascending order. It moves a misplaced dependency just before its first user and leaves
// everything else where it was. The error is a [*CycleError] or nil. The cost is linear.
func (g *Graph) PostOrder(visit []ID, kinds Kind) ([]ID, error) {
	s := g.induce(visit, kinds, false)
	if err := s.settle(func(int32) {}); err != nil {
		return nil, err
	}
	if visit == nil {
		visit = s.ids[:s.members]
	}
	type frame struct{ node, next int32 }
	var stack []frame
	out := make([]ID, 0, s.members)
	seen := make([]bool, len(s.ids))
	enter := func(i int32) {
		if !seen[i] {
			seen[i] = true
			stack = append(stack, frame{node: i})
		}
	}
	for _, id := range visit {
		i, found := s.at.at(id)
		if !found {
			continue
		}
		for enter(i); len(stack) > 0; {
			top := &stack[len(stack)-1]
			if deps := s.dependencies.of(top.node); int(top.next) < len(deps) {
				top.next++
				enter(deps[top.next-1])
				continue
			}
			if s.isMember(top.node) {
				out = append(out, s.ids[top.node])
			}
			stack = stack[:len(stack)-1]
		}
	}
	return out, nil
}

// heap is a binary heap of local numbers, least first.
type heap struct {
	items []int32
	less  func(a, b int32) bool
}

func (h *heap) len() int { return len(h.items) }

func (h *heap) push(i int32) {
	h.items = append(h.items, i)
	for at := len(h.items) - 1; at > 0; {
		up := (at - 1) / 2
		if !h.less(h.items[at], h.items[up]) {
			return
		}
		h.items[at], h.items[up] = h.items[up], h.items[at]
		at = up
	}
}

func (h *heap) pop() int32 {
	top := h.items[0]
	last := len(h.items) - 1
	h.items[0] = h.items[last]
	h.items = h.items[:last]
	for at := 0; ; {
		least := at
		for child := 2*at + 1; child <= 2*at+2 && child < last; child++ {
			if h.less(h.items[child], h.items[least]) {
				least = child
			}
		}
		if least == at {
			return top
		}
		h.items[at], h.items[least] = h.items[least], h.items[at]
		at = least
	}
}
