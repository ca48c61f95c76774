package state

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/sluice-iac/sluice/urn"
)

// CycleError says that resources refer to each other in a circle, so that no valid order of them exists.
type CycleError struct {
	URNs []urn.URN // each refers to the next one, the last one to the first
}

func (e *CycleError) Error() string {
	parts := make([]string, len(e.URNs))
	for i, u := range e.URNs {
		parts[i] = string(u)
	}
	return fmt.Sprintf("resources refer to each other in a circle: %s; remove one of these references with a state edit",
		strings.Join(append(parts, parts[0]), " -> "))
}

// newcomer is the rank of a resource that the base does not know.
const newcomer = int(^uint(0) >> 1)

// place is what decides a resource's position among those that nothing forces before or after it.
type place struct {
	resource *Resource
	rank     int // position in the base of the entry with this URN, or newcomer
}

// canonical puts places into the order in which they are written. Entries come in the order of their ranks, old copies
// right after the live entry of their name, newcomers by URN at the end; but a resource is pulled forward to stand before
// the first one that refers to it. The result depends on the set of places only, not on the order in which they are given,
// as long as no two of them agree in everything that is compared here.
//
// An old copy stays before what was made after it, because that may have been made from it: a later run deletes the
// copy only after its dependents, and only earlier entries count as dependencies then (steps.md 5.3).
//
// A cycle is reported; the returned order then breaks it at a fixed place.
func canonical(places []place) ([]*Resource, error) {
	slices.SortStableFunc(places, comparePlaces)
	rs := make([]*Resource, len(places))
	for i, p := range places {
		rs[i] = p.resource
	}
	return topological(rs)
}

func comparePlaces(a, b place) int {
	return cmp.Or(
		cmp.Compare(a.rank, b.rank),
		cmp.Compare(class(a.resource), class(b.resource)),
		cmp.Compare(a.resource.URN, b.resource.URN),
		cmp.Compare(a.resource.ID, b.resource.ID),
		a.resource.Created.Compare(b.resource.Created),
		a.resource.Modified.Compare(b.resource.Modified),
	)
}

// class puts old copies behind the live entry that takes their place (state.md 1.11).
func class(r *Resource) int {
	if r.Delete || r.PendingReplacement {
		return 1
	}
	return 0
}

// topological returns rs in an order in which each resource comes after what it refers to, and otherwise in the order
// given. References to what is not in rs are ignored. A list that is in order already is returned as it is.
func topological(rs []*Resource) ([]*Resource, error) {
	w := sorter{resources: rs, targets: indexTargets(rs), marks: make([]mark, len(rs)), out: make([]*Resource, 0, len(rs))}
	for i := range rs {
		w.emit(i)
	}
	return w.out, w.err
}

type mark uint8

const (
	unvisited mark = iota
	open
	emitted
)

// sorter is a depth-first walk with a stack of its own: chains of resources may be very long.
type sorter struct {
	resources []*Resource
	targets   targets
	marks     []mark
	stack     []frame
	scratch   []int
	out       []*Resource
	err       error
}

type frame struct {
	node int
	rest []int // what the node refers to and has not been looked at
}

func (w *sorter) emit(root int) {
	if w.marks[root] != unvisited {
		return
	}
	w.push(root)
	for len(w.stack) > 0 {
		top := &w.stack[len(w.stack)-1]
		if len(top.rest) == 0 {
			w.marks[top.node] = emitted
			w.out = append(w.out, w.resources[top.node])
			w.stack = w.stack[:len(w.stack)-1]
			continue
		}
		next := top.rest[0]
		top.rest = top.rest[1:]
		switch w.marks[next] {
		case unvisited:
			w.push(next)
		case open:
			w.cycle(next)
		}
	}
}

// push opens a node. Only what has not been emitted is kept, in list order: that is rarely anything.
func (w *sorter) push(node int) {
	w.marks[node] = open
	w.scratch = w.scratch[:0]
	w.targets.of(node, w.resources[node], func(target int) {
		if w.marks[target] != emitted && target != node {
			w.scratch = append(w.scratch, target)
		}
	})
	f := frame{node: node}
	if len(w.scratch) > 0 {
		slices.Sort(w.scratch)
		f.rest = slices.Clone(slices.Compact(w.scratch))
	}
	w.stack = append(w.stack, f)
}

// cycle remembers the first circle found: the open nodes from target to the top of the stack.
func (w *sorter) cycle(target int) {
	if w.err != nil {
		return
	}
	start := slices.IndexFunc(w.stack, func(f frame) bool { return f.node == target })
	e := &CycleError{}
	for _, f := range w.stack[start:] {
		e.URNs = append(e.URNs, w.resources[f.node].URN)
	}
	w.err = e
}

// targets finds what a reference means. By URN the live copy is meant, or an old one when an old copy refers
// (state.md 1.15): of several the one that is before it and next to it, as copies are behind those that they were made from.
// A provider is meant by URN and ID.
type targets struct {
	live      map[urn.URN]int
	old       map[urn.URN][]int // ascending
	providers map[string]int
}

func indexTargets(rs []*Resource) targets {
	t := targets{live: make(map[urn.URN]int, len(rs)), old: make(map[urn.URN][]int), providers: make(map[string]int)}
	for i, r := range rs {
		if r.Delete {
			t.old[r.URN] = append(t.old[r.URN], i)
		} else if !has(t.live, r.URN) {
			t.live[r.URN] = i
		}
		if r.Type.IsProvider() {
			if ref := ProviderRefOf(r); !has(t.providers, ref) {
				t.providers[ref] = i
			}
		}
	}
	return t
}

func has[K comparable, V any](m map[K]V, k K) bool { _, ok := m[k]; return ok }

func (t targets) byURN(from int, old bool, u urn.URN) (int, bool) {
	i, isLive := t.live[u]
	copies := t.old[u]
	if len(copies) == 0 || isLive && !old {
		return i, isLive
	}
	at, _ := slices.BinarySearch(copies, from)
	return copies[max(at-1, 0)], true
}

// of calls visit with the index of everything that r, which has the index from, refers to, in no particular order.
func (t targets) of(from int, r *Resource, visit func(int)) {
	look := func(u urn.URN) {
		if u == "" {
			return
		}
		if i, ok := t.byURN(from, r.Delete, u); ok {
			visit(i)
		}
	}
	if r.Provider != "" {
		if i, ok := t.providers[canonicalRef(r.Provider)]; ok {
			visit(i)
		}
	}
	look(r.Parent)
	for _, d := range r.Dependencies {
		look(d)
	}
	for _, ds := range r.PropertyDependencies {
		for _, d := range ds {
			look(d)
		}
	}
	look(r.DeletedWith)
	for _, d := range r.ReplaceWith {
		look(d)
	}
}
