package graph

import (
	"slices"
)

// Order defines which nodes to order and how.
type Order struct {
	// Nodes are the nodes to order; nil means all, an empty slice none. Repetitions count once.
	Nodes []ID
	// Kinds are the edges that count; 0 means [AllKinds].
	Kinds Kind
	// Priority breaks ties: of the nodes whose dependencies have all been placed, the one with the lowest priority comes
	// next; of equal ones, the one with the lowest ID. nil means by ID alone. It is called once for each node.
	Priority func(ID) int64
}

// PostOrder orders the nodes 0 to n-1 without a [Graph], so that each comes after its dependencies. It visits them in
// ascending order, depth first, and places each one after its dependencies, which are visited in ascending order too. It
// moves a misplaced dependency just before its first user and leaves everything else in its place; this is how a snapshot
// is repaired ([state.md 1.15]). dependencies is called once for each node; it calls visit for each dependency of the node,
// in any order and any number of times. The cost is linear in n and the calls of visit, but for sorting.
//
// Order is complete even if there are cycles: an edge that closes a cycle is ignored. cycle is the first one that is
// found, nil if there is none: each node depends on the next one, and the last on the first.
//
// [state.md 1.15]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/state.md#115-repair
func PostOrder(n int, dependencies func(id ID, visit func(ID))) (order, cycle []ID) {
	w := postOrder{marks: make([]mark, n), order: make([]ID, 0, n), dependencies: dependencies}
	w.visit = func(id ID) {
		if w.marks[id] != placed { // rarely
			w.scratch = append(w.scratch, id)
		}
	}
	for id := range ID(n) {
		w.place(id)
	}
	return w.order, w.cycle
}

type mark uint8

const (
	unvisited mark = iota
	open
	placed
)

// postOrder is a depth-first walk with a stack of its own: chains of dependencies may be very long.
type postOrder struct {
	dependencies func(ID, func(ID))
	visit        func(ID)
	marks        []mark
	stack        []visited
	scratch      []ID
	order, cycle []ID
}

// visited is an open node with the dependencies that have not been visited yet.
type visited struct {
	id   ID
	rest []ID
}

func (w *postOrder) place(root ID) {
	if w.marks[root] != unvisited {
		return
	}
	w.open(root)
	for len(w.stack) > 0 {
		top := &w.stack[len(w.stack)-1]
		if len(top.rest) == 0 {
			w.marks[top.id] = placed
			w.order = append(w.order, top.id)
			w.stack = w.stack[:len(w.stack)-1]
			continue
		}
		next := top.rest[0]
		top.rest = top.rest[1:]
		switch w.marks[next] {
		case unvisited:
			w.open(next)
		case open:
			w.close(next)
		}
	}
}

func (w *postOrder) open(id ID) {
	w.marks[id] = open
	w.scratch = w.scratch[:0]
	w.dependencies(id, w.visit)
	v := visited{id: id}
	if len(w.scratch) > 0 {
		slices.Sort(w.scratch)
		v.rest = slices.Clone(slices.Compact(w.scratch))
	}
	w.stack = append(w.stack, v)
}

// close records the first cycle: the open nodes from id to the top of the stack, which depends on id.
func (w *postOrder) close(id ID) {
	if w.cycle != nil {
		return
	}
	start := slices.IndexFunc(w.stack, func(v visited) bool { return v.id == id })
	for _, v := range w.stack[start:] {
		w.cycle = append(w.cycle, v.id)
	}
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
