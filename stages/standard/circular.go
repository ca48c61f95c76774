package standard

import (
	"slices"
	"strings"

	"github.com/sluice-iac/sluice/advice"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/internal/control"
	"github.com/sluice-iac/sluice/stages/internal/rooms"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// circles finds resources that would come to refer to themselves. A program cannot declare them, and a valid state does not hold
// them, but together they can cause them: a resource that is left out keeps its recorded references, and the program may have
// reversed the references between it and an included resource. The builder owns it.
type circles struct {
	control *control.Control
	rooms   *rooms.Rooms
	carrier *carrier
	decided map[urn.URN]*state.Resource // the states from registrations so far
}

// refuse refuses steps after which a resource would refer to itself. No valid state could record it, so nothing is done. Of the
// resources on a circle, the last one that is decided is refused. It is always included: only its own references can close the
// circle, because those of left-out resources exist from the start.
func (c *circles) refuse(d stages.Diffed, steps []*stages.Decision) error {
	if !c.rooms.Targeting.IsPartial() {
		return nil
	}
	for _, s := range steps {
		if s.New == nil || s.Kind == stages.Provisional || s.Kind == stages.Uncreated {
			continue
		}
		if !s.IsKept() && c.isCarriedForward(d.Claimed) && s.URN == d.URN {
			if path := c.cyclePath(s.New, d.Seq); path != nil {
				return c.control.FailRegistration(d.Located, 0, advice.Errorf(advice.On(advice.TargetDependents),
					"%s would depend on itself: %s. Some of these are left out of this operation and "+
						"recorded with what they depended on: make them part of it, or leave out %s, too",
					s.URN, strings.Join(path, " depends on "), s.URN))
			}
		}
		c.decided[s.URN] = s.New
	}
	return nil
}

func (c *circles) isCarriedForward(old *state.Resource) bool {
	id, ok := c.rooms.Base.ID(old)
	return ok && c.carrier.carried[id]
}

// cyclePath returns the shortest path from the state of a registration along references back to its own name, nil if there is none.
func (c *circles) cyclePath(from *state.Resource, seq int) []string {
	before := map[urn.URN]urn.URN{from.URN: ""}
	for todo := []*state.Resource{from}; len(todo) > 0; todo = todo[1:] {
		here := todo[0]
		for _, u := range c.referencesOf(here) {
			if u == from.URN {
				return pathTo(before, here.URN, from.URN)
			}
			if _, seen := before[u]; seen {
				continue
			}
			before[u] = here.URN
			if next := c.expectedState(u, seq); next != nil {
				todo = append(todo, next)
			}
		}
	}
	return nil
}

// pathTo lists the names from first to last, and first again.
func pathTo(before map[urn.URN]urn.URN, last, first urn.URN) []string {
	path := []string{first.Name()}
	for u := last; u != first; u = before[u] {
		path = append(path, u.Name())
	}
	path = append(path, first.Name())
	slices.Reverse(path)
	return path
}

// referencesOf returns the current names of everything that a state refers to, sorted.
func (c *circles) referencesOf(r *state.Resource) []urn.URN {
	var us []urn.URN
	for ref := range r.References() {
		us = append(us, c.rooms.Names.NewNameOf(ref.URN))
	}
	slices.Sort(us)
	return slices.Compact(us)
}

// expectedState returns the state that a name will have when a registration is decided, as far as it is known: the decided one, or the recorded one if it is left
// out. An included resource that is not decided yet will be checked itself.
func (c *circles) expectedState(u urn.URN, seq int) *state.Resource {
	if s := c.decided[u]; s != nil {
		return s
	}
	old := c.rooms.Base.Olds[u]
	if old == nil || stages.IsImplicit(old.Type) {
		return nil
	}
	if c.rooms.IncludesRecorded(old, seq) {
		return nil
	}
	return old
}
