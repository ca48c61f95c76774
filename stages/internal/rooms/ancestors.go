package rooms

import (
	"context"
	"sync/atomic"

	"github.com/sluice-iac/sluice/graph"
	"github.com/sluice-iac/sluice/state"
)

// openness is the state of the decisions that may concern a base state: those about its dependencies.
type openness uint8

const (
	settled   openness = iota // none
	unclaimed                 // some states are not registered; a registration to come may be about them
	undecided                 // some registrations are not decided
)

// Ancestors finds the open decisions that may concern a recorded state. It is safe for concurrent use.
type Ancestors struct {
	base     *Base
	names    *Names
	progress *Progress
	// noOpenAncestor marks the base states that no undecided registration can concern: see NearestOpen.
	noOpenAncestor []atomic.Int64
}

// about reports whether the registration that continues a base state is decided.
func (an *Ancestors) about(id graph.ID) (claimant int, o openness) {
	res := an.base.Resources[id]
	if res.Delete {
		return 0, settled
	}
	claimant, ok := an.names.awaitClaim(id)
	switch {
	case !ok:
		return 0, unclaimed
	case an.progress.HasPassed(claimant, Decided):
		return claimant, settled
	}
	return claimant, undecided
}

// always is the mark of a state that no open decision can concern any more.
const always = -1

// NearestOpen walks up from a base state to the nearest ancestor whose registration is before seq and undecided: its decision could
// concern the state. Visited states are added to visited and not walked again.
//
// Ancestors without such a state above them are marked and end later walks, so that the cost over a whole run is linear
// for programs in dependency order. A mark is permanent when everything above is decided. If something above is not
// registered, and perhaps never will be, the mark holds until such a state is claimed: the epoch of the names. Old copies
// that await deletion are never registered and decide nothing.
func (an *Ancestors) NearestOpen(seq int, id graph.ID, visited map[graph.ID]bool) (claimant int, ok bool) {
	type frame struct {
		id   graph.ID
		next int
		is   openness
	}
	epoch := an.names.claimEpoch()
	stack := []frame{{id: id}}
	visited[id] = true
	for len(stack) > 0 {
		f := &stack[len(stack)-1]
		deps := an.base.Graph.Dependencies(f.id)
		if f.next == len(deps) {
			switch {
			case f.id == id:
			case f.is == settled:
				an.noOpenAncestor[f.id].Store(always)
			case f.is == unclaimed:
				an.noOpenAncestor[f.id].Store(epoch)
			}
			above := f.is
			stack = stack[:len(stack)-1]
			if len(stack) > 0 {
				top := &stack[len(stack)-1]
				top.is = max(top.is, above)
			}
			continue
		}
		e := deps[f.next]
		f.next++
		mark := an.noOpenAncestor[e.ID].Load()
		switch {
		case e.Kind&graph.NotParent == 0 || mark == always:
		case mark == epoch:
			f.is = max(f.is, unclaimed)
		case visited[e.ID]:
			f.is = undecided
		default:
			claimant, o := an.about(e.ID)
			if o == undecided && claimant < seq {
				return claimant, true
			}
			visited[e.ID] = true
			stack = append(stack, frame{id: e.ID, is: o})
		}
	}
	return 0, false
}

// AwaitDecisions waits until no registration before seq is undecided whose decision could concern a recorded state. It is for
// stages before build, where the registrations that it waits for may be behind.
func (an *Ancestors) AwaitDecisions(ctx context.Context, seq int, res *state.Resource) error {
	id, ok := an.base.ID(res)
	if !ok {
		return nil
	}
	for {
		claimant, open := an.NearestOpen(seq, id, map[graph.ID]bool{})
		if !open {
			return nil
		}
		if err := an.progress.Await(ctx, claimant, Decided); err != nil {
			return err
		}
	}
}
