package book

import (
	"github.com/sluice-iac/sluice/graph"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// EndGraph are the states that the end phase is about, with the graph that orders it: the base, after what a destroy's
// program has declared (steps.md 5.3). What refers to a name is deleted before every state of that name that comes earlier.
type EndGraph struct {
	*Base
	Declared map[*state.Resource]bool
}

func (r *Book) Remains() EndGraph {
	a := endOrder{Book: r, at: map[urn.URN][]int{}, rest: map[urn.URN][]*state.Resource{}, placed: map[*state.Resource]bool{}}
	isDeclared := map[*state.Resource]bool{}
	for _, s := range r.Record.stepsOf(r.Declared) {
		if s.Made != nil && r.Results.Current(s.Made) == s.Made && !isDeclared[s.Made] {
			isDeclared[s.Made] = true
			a.declare(s.Made)
		}
	}
	if len(isDeclared) == 0 {
		return EndGraph{Base: r.Base}
	}
	for _, res := range r.Base.Resources {
		if !isDeclared[res] {
			u := a.name(res, res.URN)
			a.rest[u] = append(a.rest[u], res)
		}
	}
	for i := range a.declared {
		a.place(i)
	}
	for _, res := range r.Base.Resources {
		if !isDeclared[res] && !a.placed[res] { // one that was left as it is comes where the program declares it
			a.all = append(a.all, res)
		}
	}
	return EndGraph{Base: newBaseOf(a.all, a.name), Declared: isDeclared}
}

// Named returns the places of the states of these names.
func (m EndGraph) Named(set map[urn.URN]bool) []graph.ID {
	var ids []graph.ID
	for i, res := range m.Resources {
		if set[res.URN] {
			ids = append(ids, graph.ID(i))
		}
	}
	return ids
}

// endOrder finds an order in which everything comes after what it refers to, with what a program has declared in the
// program's order if it can be. Old copies of resources come before whatever refers to their name: what was not updated since
// the replacement goes on using the old object.
type endOrder struct {
	*Book
	declared []*state.Resource
	at       map[urn.URN][]int             // places among the declared, by name
	needs    [][]int                       // earlier declared states that each one refers to
	rest     map[urn.URN][]*state.Resource // what is not declared, by name
	all      []*state.Resource
	begun    []bool                   // by place among the declared
	placed   map[*state.Resource]bool // what is in all
}

// name is what a state means by a name: names of the base may have been taken over.
func (a *endOrder) name(res *state.Resource, u urn.URN) urn.URN {
	if _, old := a.Base.Ids[res]; old {
		return a.Names.NewNameOf(u)
	}
	return u
}

func (a *endOrder) declare(s *state.Resource) {
	var needs []int
	for ref := range s.References() {
		needs = append(needs, a.at[a.name(s, ref.URN)]...)
	}
	u := a.name(s, s.URN)
	a.at[u] = append(a.at[u], len(a.declared))
	a.declared, a.needs, a.begun = append(a.declared, s), append(a.needs, needs), append(a.begun, false)
}

// place appends a declared state after what it refers to.
func (a *endOrder) place(i int) {
	if a.begun[i] {
		return
	}
	a.begun[i] = true
	for _, n := range a.needs[i] {
		a.place(n)
	}
	s := a.declared[i]
	for ref := range s.References() {
		u := a.name(s, ref.URN)
		// What is left as it is may refer to what is declared again later.
		if at := a.at[u]; len(at) > 0 && at[0] > i && !a.waits(at, map[int]bool{}) {
			for _, n := range at {
				a.place(n)
			}
		}
		for _, c := range a.rest[u] {
			if a.isOld(c) || len(a.at[u]) == 0 { // nothing declared stands for it: it has been deleted, to be made again
				a.placeRest(c)
			}
		}
	}
	a.all, a.placed[s] = append(a.all, s), true
}

// isOld reports whether a state of the base awaits Deletion, from before or because the program has declared another one in its
// place.
func (a *endOrder) isOld(res *state.Resource) bool {
	now := a.Results.Current(res)
	return now != nil && now.Delete
}

// placeRest appends a state of the base after what it refers to, if that is possible now: some of it may wait for what refers
// to the state, by the program's word, which counts.
func (a *endOrder) placeRest(c *state.Resource) bool {
	if a.placed[c] {
		return true
	}
	possible := true
	var needs []int
	for ref := range c.References() {
		u := a.name(c, ref.URN)
		for _, other := range a.rest[u] {
			// What is declared stands for what it was.
			if (a.isOld(other) || len(a.at[u]) == 0) && a.Base.Ids[other] < a.Base.Ids[c] {
				possible = possible && a.placeRest(other)
			}
		}
		needs = append(needs, a.at[u]...)
	}
	if !possible || a.waits(needs, map[int]bool{}) {
		return false
	}
	for _, n := range needs {
		a.place(n)
	}
	if !a.placed[c] {
		a.all, a.placed[c] = append(a.all, c), true
	}
	return true
}

// waits reports whether any of these declared states, or of those that they refer to, is just being placed.
func (a *endOrder) waits(of []int, seen map[int]bool) bool {
	for _, n := range of {
		if a.begun[n] {
			if !a.placed[a.declared[n]] {
				return true
			}
			continue // and so is all that it refers to
		}
		if !seen[n] {
			seen[n] = true
			if a.waits(a.needs[n], seen) {
				return true
			}
		}
	}
	return false
}
