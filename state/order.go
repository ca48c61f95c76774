package state

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/sluice-iac/sluice/graph"
	"github.com/sluice-iac/sluice/urn"
)

// ReferenceCycleError reports that resources refer to each other in a cycle, so that no valid order of them exists.
type ReferenceCycleError struct {
	URNs []urn.URN // each refers to the next one, the last one to the first
}

func (e *ReferenceCycleError) Error() string {
	parts := make([]string, len(e.URNs))
	for i, u := range e.URNs {
		parts[i] = string(u)
	}
	return fmt.Sprintf("resources refer to each other in a circle: %s; remove one of these references with a state edit",
		strings.Join(append(parts, parts[0]), " -> "))
}

// notInBase is the rank of a resource that is not in the base.
const notInBase = int(^uint(0) >> 1)

// place has the data for a resource's position among those that no reference orders.
type place struct {
	resource *Resource
	rank     int // position in the base of the entry with this URN, or notInBase
}

// canonical puts places into the order in which they are written. Entries come in the order of their ranks, old copies right after the live entry of
// their name, new ones at the end: the stack, then the others by URN. But a resource is pulled forward to stand before the first one that refers to
// it. The result depends only on the set of places, not on their order, as long as no two of them are equal in all compared fields.
//
// An old copy stays before resources that were made after it, because they may have been made from it: a later run deletes the copy only after its
// dependents, and only earlier entries count as dependencies then (steps.md 5.3).
//
// A cycle is reported as by [topological].
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
		cmp.Compare(copyRank(a.resource), copyRank(b.resource)),
		cmp.Compare(rootRank(a.resource), rootRank(b.resource)),
		cmp.Compare(a.resource.URN, b.resource.URN),
		cmp.Compare(a.resource.ID, b.resource.ID),
		a.resource.Created.Compare(b.resource.Created),
		a.resource.Modified.Compare(b.resource.Modified),
	)
}

// copyRank puts old copies behind the live entry that replaces them (state.md 1.11).
func copyRank(r *Resource) int {
	if r.Delete || r.PendingReplacement {
		return 1
	}
	return 0
}

// rootRank puts the stack before its contents.
func rootRank(r *Resource) int {
	if r.URN.IsRootStack() {
		return 0
	}
	return 1
}

// topological returns rs in an order in which each resource comes after those that it refers to, and otherwise in the
// given order. References to resources outside rs are ignored. A list that is in order already is returned as it is. A
// cycle is reported; the order then breaks it at a fixed place.
func topological(rs []*Resource) ([]*Resource, error) {
	t := indexTargets(rs)
	order, circle := graph.PostOrder(len(rs), func(id graph.ID, visit func(graph.ID)) {
		t.of(int(id), rs[id], func(target int) {
			if target != int(id) {
				visit(graph.ID(target))
			}
		})
	})
	out := make([]*Resource, len(order))
	for i, id := range order {
		out[i] = rs[id]
	}
	if circle == nil {
		return out, nil
	}
	e := &ReferenceCycleError{}
	for _, id := range circle {
		e.URNs = append(e.URNs, rs[id].URN)
	}
	return out, e
}

// targets resolves references. A URN means the live copy, but in an old copy it means an old one (state.md 1.15): of several
// the nearest one before it, as copies come after those that they were made from. A provider reference means the entry with
// that URN and ID.
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

// of calls visit with the index of every target of r's references, in no particular order. from is the index of r.
func (t targets) of(from int, r *Resource, visit func(int)) {
	if r.Provider != "" {
		if i, ok := t.providers[canonicalRef(r.Provider)]; ok {
			visit(i)
		}
	}
	for ref := range r.byURN() {
		if i, ok := t.byURN(from, r.Delete, ref.URN); ok {
			visit(i)
		}
	}
}
