package stages

import (
	"context"

	"github.com/sluice-iac/sluice/graph"
	"github.com/sluice-iac/sluice/state"
)

// doubt says what is known about the decisions that may concern a base state: those about what it depends on.
type doubt uint8

const (
	settled   doubt = iota // all are made
	unclaimed              // some states are not registered; a registration to come may be about them
	undecided              // some registrations are not decided
)

// forever is the mark of a state about which everything is settled.
const forever = -1

// openAncestor walks up from a base state to the nearest ancestor whose registration is earlier and undecided.
//
// Ancestors that have nothing of that kind above them are marked and end later walks, so that the cost over a whole run is
// linear for programs in dependency order. A mark is for good when everything above is decided. Where something above is
// not registered, which is never going to change for what has left the program, it holds as long as nothing of the kind is
// claimed: the epoch of the names. Old copies that await deletion are never registered and decide nothing.
func (b *builder) openAncestor(seq int, id graph.ID, visited map[graph.ID]bool) (int, bool) {
	type frame struct {
		id   graph.ID
		next int
		doubt
	}
	epoch := b.run.names.claimEpoch()
	stack := []frame{{id: id}}
	visited[id] = true
	for len(stack) > 0 {
		f := &stack[len(stack)-1]
		deps := b.run.base.graph.Dependencies(f.id)
		if f.next == len(deps) {
			switch {
			case f.id == id:
			case f.doubt == settled:
				b.clear[f.id] = forever
			case f.doubt == unclaimed:
				b.clear[f.id] = epoch
			}
			above := f.doubt
			stack = stack[:len(stack)-1]
			if len(stack) > 0 {
				top := &stack[len(stack)-1]
				top.doubt = max(top.doubt, above)
			}
			continue
		}
		e := deps[f.next]
		f.next++
		switch {
		case e.Kind&closureKinds == 0 || b.clear[e.ID] == forever:
		case b.clear[e.ID] == epoch:
			f.doubt = max(f.doubt, unclaimed)
		case visited[e.ID]:
			f.doubt = undecided
		default:
			claimant, d := b.run.doubtAbout(e.ID)
			if d == undecided && claimant < seq {
				return claimant, true
			}
			visited[e.ID] = true
			stack = append(stack, frame{id: e.ID, doubt: d})
		}
	}
	return 0, false
}

// doubtAbout tells whether the registration that goes on with a base state is decided.
func (r *Run) doubtAbout(id graph.ID) (claimant int, d doubt) {
	res := r.base.resources[id]
	if res.Delete {
		return 0, settled
	}
	claimant, ok := r.names.awaitClaim(res)
	switch {
	case !ok:
		return 0, unclaimed
	case r.progress.hasPassed(claimant, decided):
		return claimant, settled
	}
	return claimant, undecided
}

// awaitDecisionsAbout waits until no registration before seq is undecided whose decision could concern a recorded state.
// It is for stages before build, whose items come in order: what they wait for is ahead of them.
func (r *Run) awaitDecisionsAbout(ctx context.Context, seq int, res *state.Resource) error {
	id, ok := r.base.ids[res]
	if !ok {
		return nil
	}
	for _, above := range r.base.graph.TransitiveDependencies([]graph.ID{id}, graph.Reach{Kinds: closureKinds}) {
		claimant, d := r.doubtAbout(above)
		if d != undecided || claimant >= seq {
			continue
		}
		if err := r.progress.await(ctx, claimant, decided); err != nil {
			return err
		}
	}
	return nil
}
