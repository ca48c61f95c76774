package standard

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// circles watches for resources that would come to refer to themselves. A program cannot declare that, and a valid state does
// not hold it; together they can: what is left out of an operation keeps the references that it is recorded with, and
// the program may have turned round what is between it and a resource that is part of the operation. build owns it.
type circles struct {
	decided map[urn.URN]*state.Resource // what registrations have come to so far
	held    map[*state.Resource]bool    // base states that something left out refers to, and no registration went on with before
}

func newCircles() circles {
	return circles{decided: map[urn.URN]*state.Resource{}, held: map[*state.Resource]bool{}}
}

// circular refuses steps after which a resource would refer to itself: no valid state could record it, so nothing is done. Of
// the resources on a circle the last one that is decided is refused, and it is held by then: only its own references can
// close the circle, as those of what is left out have been there from the start.
func (b *builder) circular(d stages.Diffed, steps []*stages.Decision) error {
	if !b.Targeting.IsPartial() {
		return nil
	}
	for _, s := range steps {
		if s.New == nil || s.Kind == stages.Provisional || s.Kind == stages.Uncreated {
			continue
		}
		if !s.IsKept() && b.circles.held[d.Old] && s.URN == d.URN {
			if path := b.cyclePath(s.New); path != nil {
				return b.Bail(d.Located, 0, fmt.Errorf("%s would depend on itself: %s. Some of these are left out of this operation and "+
					"recorded with what they depended on: make them part of it, for example with --target-dependents, or leave out %s, too",
					s.URN, strings.Join(path, " depends on "), s.URN))
			}
		}
		b.circles.decided[s.URN] = s.New
	}
	return nil
}

// cyclePath returns the shortest way from a state along references back to its own name, nil if there is none.
func (b *builder) cyclePath(from *state.Resource) []string {
	before := map[urn.URN]urn.URN{from.URN: ""}
	for todo := []*state.Resource{from}; len(todo) > 0; todo = todo[1:] {
		here := todo[0]
		for _, u := range b.referencesOf(here) {
			if u == from.URN {
				return pathTo(before, here.URN, from.URN)
			}
			if _, seen := before[u]; seen {
				continue
			}
			before[u] = here.URN
			if next := b.expectedState(u); next != nil {
				todo = append(todo, next)
			}
		}
	}
	return nil
}

// pathTo lists the names from the first one to last, and the first one again.
func pathTo(before map[urn.URN]urn.URN, last, first urn.URN) []string {
	path := []string{first.Name()}
	for u := last; u != first; u = before[u] {
		path = append(path, u.Name())
	}
	path = append(path, first.Name())
	slices.Reverse(path)
	return path
}

// referencesOf returns the names of today of what a state refers to, sorted.
func (b *builder) referencesOf(r *state.Resource) []urn.URN {
	var us []urn.URN
	for ref := range r.References() {
		us = append(us, b.Names.NewNameOf(ref.URN))
	}
	slices.Sort(us)
	return slices.Compact(us)
}

// expectedState is the state that a name will have as far as that is known: what was decided, or what is recorded of something that
// is left out. What is part of the operation and not decided yet will be looked at itself.
func (b *builder) expectedState(u urn.URN) *state.Resource {
	if s := b.circles.decided[u]; s != nil {
		return s
	}
	old := b.Base.Olds[u]
	if old == nil || stages.IsImplicit(old.Type) {
		return nil
	}
	if b.IncludesRecorded(old) {
		return nil
	}
	return old
}
