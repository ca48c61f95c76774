package rooms

import (
	"slices"

	"github.com/sluice-iac/sluice/graph"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// EndGraph has the states of the end phase, with the graph that orders it: the base, after the states that a destroy's program has
// declared (steps.md 5.3). References to a name are deleted before every state of that name that comes earlier.
type EndGraph struct {
	Base *Base
	// Declared has the positions of the states that the program has declared.
	Declared map[graph.ID]bool
}

// Named returns the positions of the states with these names.
func (m EndGraph) Named(set map[urn.URN]bool) []graph.ID {
	var ids []graph.ID
	for i, res := range m.Base.Resources {
		if set[res.URN] {
			ids = append(ids, graph.ID(i))
		}
	}
	return ids
}

// endOrder finds an order in which each state comes after those that it refers to. Declared states are in the program's order if
// possible. Old copies of resources come before all references to their name: a state that was not updated since the replacement
// goes on using the old object.
type endOrder struct {
	rooms    *Rooms
	declared []*state.Resource
	at       map[urn.URN][]int      // places among the declared, by name
	needs    [][]int                // the earlier declared states that each one refers to
	rest     map[urn.URN][]graph.ID // base states that were not declared unchanged, by name
	begun    []bool                 // by place among the declared

	all        []*state.Resource
	isDeclared map[graph.ID]bool // places in all
	placed     []bool            // by place among the declared: it is in all
	restPlaced []bool            // by base position: it is in all, or is declared unchanged
}

// name returns the current name of a reference in a state: names of the base may have been taken over.
func (a *endOrder) name(res *state.Resource, u urn.URN) urn.URN {
	if _, old := a.rooms.Base.ID(res); old && !a.rooms.Names.IsKept(u) {
		return a.rooms.Names.NewNameOf(u)
	}
	return u
}

// place appends a declared state after those that it refers to.
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
		// A state that is left as it is may refer to one that is declared again later.
		if at := a.at[u]; len(at) > 0 && at[0] > i && !a.waits(at, map[int]bool{}) {
			for _, n := range at {
				a.place(n)
			}
		}
		for _, id := range a.rest[u] {
			if a.isOld(id) || len(a.at[u]) == 0 { // no declared state replaces it: it has been deleted, to be made again
				a.placeRest(id)
			}
		}
	}
	a.isDeclared[graph.ID(len(a.all))] = true
	a.all, a.placed[i] = append(a.all, s), true
}

// isOld reports whether a state of the base awaits deletion, from before or because the program has declared another one in its
// place.
func (a *endOrder) isOld(id graph.ID) bool {
	now := a.rooms.Results.Current(a.rooms.Base.Resources[id])
	return now != nil && now.Delete
}

// placeRest appends a state of the base after those that it refers to, if that is possible now: some of these may have to wait for
// states that refer to this one, because the program's order takes precedence.
func (a *endOrder) placeRest(id graph.ID) bool {
	if a.restPlaced[id] {
		return true
	}
	possible := true
	var needs []int
	res := a.rooms.Base.Resources[id]
	for ref := range res.References() {
		u := a.name(res, ref.URN)
		for _, other := range a.rest[u] {
			// A declared state takes the place of its recorded one.
			if (a.isOld(other) || len(a.at[u]) == 0) && other < id {
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
	a.placeLeftOver(id)
	return true
}

// placeLeftOver appends a state of the base that has not been placed.
func (a *endOrder) placeLeftOver(id graph.ID) {
	if !a.restPlaced[id] {
		a.all, a.restPlaced[id] = append(a.all, a.rooms.Base.Resources[id]), true
	}
}

// waits reports whether any of these declared states, or of those that they refer to, is being placed.
func (a *endOrder) waits(of []int, seen map[int]bool) bool {
	for _, n := range of {
		if a.begun[n] {
			if !a.placed[n] {
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

// Remains returns the states that exist when the program has ended.
func Remains(rooms *Rooms) EndGraph {
	declared := declaredStates(rooms)
	if len(declared) == 0 {
		return EndGraph{Base: rooms.Base}
	}
	a := newEndOrder(rooms, declared)
	for i := range declared {
		a.place(i)
	}
	for id := range rooms.Base.Resources {
		a.placeLeftOver(graph.ID(id))
	}
	return EndGraph{Base: newBaseOf(a.all, a.name), Declared: a.isDeclared}
}

// declaredStates returns the states that a destroy's program has declared and that still exist, in the order of the registrations'
// numbers, whatever was decided first.
func declaredStates(rooms *Rooms) []*state.Resource {
	inOrder := rooms.Decisions.allDeclared()
	slices.SortStableFunc(inOrder, func(a, b *stages.Decision) int { return a.Rank.Compare(b.Rank) })
	var out []*state.Resource
	seen := map[*state.Resource]bool{}
	for _, s := range rooms.Outcomes.stepsOf(inOrder) {
		if s.Made != nil && rooms.Results.Current(s.Made) == s.Made && !seen[s.Made] {
			seen[s.Made] = true
			out = append(out, s.Made)
		}
	}
	return out
}

func newEndOrder(r *Rooms, declared []*state.Resource) *endOrder {
	a := &endOrder{
		rooms: r, declared: declared, at: map[urn.URN][]int{}, rest: map[urn.URN][]graph.ID{}, isDeclared: map[graph.ID]bool{},
		begun: make([]bool, len(declared)), placed: make([]bool, len(declared)), restPlaced: make([]bool, len(r.Base.Resources)),
	}
	for i, s := range declared {
		var needs []int
		for ref := range s.References() {
			needs = append(needs, a.at[a.name(s, ref.URN)]...)
		}
		u := a.name(s, s.URN)
		a.at[u], a.needs = append(a.at[u], i), append(a.needs, needs)
		if id, recorded := r.Base.ID(s); recorded {
			a.restPlaced[id] = true // it comes where the program declares it
		}
	}
	for i, res := range r.Base.Resources {
		if !a.restPlaced[i] {
			u := a.name(res, res.URN)
			a.rest[u] = append(a.rest[u], graph.ID(i))
		}
	}
	return a
}
