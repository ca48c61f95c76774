package book

import (
	"context"
	"sync/atomic"

	"github.com/sluice-iac/sluice/graph"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
)

// Doubt says what is known about the decisions that may concern a base state: those about what it depends on.
type Doubt uint8

const (
	Certain   Doubt = iota // all are made
	Unclaimed              // some states are not registered; a registration to come may be about them
	Undecided              // some registrations are not decided
)

// doubts find the decisions that may still concern a recorded state. They are safe for concurrent use.
type doubts struct {
	base     *Base
	names    *names
	progress *progress
	// noOpenAncestor marks the base states that no undecided registration can concern: see OpenAncestor.
	noOpenAncestor []atomic.Int64
}

// About reports whether the registration that goes on with a base state is decided.
func (ds *doubts) About(id graph.ID) (claimant int, d Doubt) {
	res := ds.base.Resources[id]
	if res.Delete {
		return 0, Certain
	}
	claimant, ok := ds.names.awaitClaim(id)
	switch {
	case !ok:
		return 0, Unclaimed
	case ds.progress.HasPassed(claimant, Decided):
		return claimant, Certain
	}
	return claimant, Undecided
}

// always is the mark of a state about which everything is certain.
const always = -1

// OpenAncestor walks up from a base state to the nearest ancestor whose registration is before seq and undecided: its
// decision could concern the state. What was visited is added to visited and not walked again.
//
// Ancestors without such a state above them are marked and end later walks, so that the cost over a whole run is linear
// for programs in dependency order. A mark is permanent when everything above is decided. If something above is not
// registered, and perhaps never will be, the mark holds until such a state is claimed: the epoch of the names. Old copies
// that await deletion are never registered and decide nothing.
func (ds *doubts) OpenAncestor(seq int, id graph.ID, visited map[graph.ID]bool) (claimant int, ok bool) {
	type frame struct {
		id   graph.ID
		next int
		Doubt
	}
	epoch := ds.names.ClaimEpoch()
	stack := []frame{{id: id}}
	visited[id] = true
	for len(stack) > 0 {
		f := &stack[len(stack)-1]
		deps := ds.base.Graph.Dependencies(f.id)
		if f.next == len(deps) {
			switch {
			case f.id == id:
			case f.Doubt == Certain:
				ds.noOpenAncestor[f.id].Store(always)
			case f.Doubt == Unclaimed:
				ds.noOpenAncestor[f.id].Store(epoch)
			}
			above := f.Doubt
			stack = stack[:len(stack)-1]
			if len(stack) > 0 {
				top := &stack[len(stack)-1]
				top.Doubt = max(top.Doubt, above)
			}
			continue
		}
		e := deps[f.next]
		f.next++
		mark := ds.noOpenAncestor[e.ID].Load()
		switch {
		case e.Kind&ClosureKinds == 0 || mark == always:
		case mark == epoch:
			f.Doubt = max(f.Doubt, Unclaimed)
		case visited[e.ID]:
			f.Doubt = Undecided
		default:
			claimant, d := ds.About(e.ID)
			if d == Undecided && claimant < seq {
				return claimant, true
			}
			visited[e.ID] = true
			stack = append(stack, frame{id: e.ID, Doubt: d})
		}
	}
	return 0, false
}

// AwaitDecisions waits until no registration before seq is undecided whose decision could concern a recorded state.
// It is for stages before build, whose items come in order: what they wait for is ahead of them.
func (ds *doubts) AwaitDecisions(ctx context.Context, seq int, res *state.Resource) error {
	id, ok := ds.base.ID(res)
	if !ok {
		return nil
	}
	for {
		claimant, open := ds.OpenAncestor(seq, id, map[graph.ID]bool{})
		if !open {
			return nil
		}
		if err := ds.progress.Await(ctx, claimant, Decided); err != nil {
			return err
		}
	}
}

// ClosureKinds are the edges along which a delete-before-replace spreads (steps.md 3.11): all but parent.
const ClosureKinds = graph.Dependency | graph.PropertyDependency | graph.DeletedWith | graph.ReplaceWith | graph.Provider

// IsDeletedBefore reports whether the recorded state of a registration does not count any more because a delete-before-replace of
// something else has deleted it (steps.md 3.6 "recreate"). That goes by names: a resource that the program calls something
// else is checked and compared as usual, and is then one whose replacement has begun.
func (book *Book) IsDeletedBefore(l stages.Located) bool {
	return !l.IsRenamed() && book.Decisions.IsDeletedByClosure(l.Claimed)
}

// IsDeletedOnceDecided is IsDeletedBefore once every decision that could concern the recorded state has been made.
func (book *Book) IsDeletedOnceDecided(ctx context.Context, l stages.Located) (bool, error) {
	if l.Claimed == nil || l.IsRenamed() {
		return false, nil
	}
	if err := book.Doubts.AwaitDecisions(ctx, l.Seq, l.Claimed); err != nil {
		return false, err
	}
	return book.IsDeletedBefore(l), nil
}
