package book

import (
	"context"

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

// DoubtAbout reports whether the registration that goes on with a base state is decided.
func (r *Book) DoubtAbout(id graph.ID) (claimant int, d Doubt) {
	res := r.Base.Resources[id]
	if res.Delete {
		return 0, Certain
	}
	claimant, ok := r.Names.awaitClaim(id)
	switch {
	case !ok:
		return 0, Unclaimed
	case r.Progress.hasPassed(claimant, Decided):
		return claimant, Certain
	}
	return claimant, Undecided
}

// AwaitDecisionsAbout waits until no registration before seq is undecided whose decision could concern a recorded state.
// It is for stages before build, whose items come in order: what they wait for is ahead of them.
func (r *Book) AwaitDecisionsAbout(ctx context.Context, seq int, res *state.Resource) error {
	id, ok := r.Base.ID(res)
	if !ok {
		return nil
	}
	for _, above := range r.Base.Graph.TransitiveDependencies([]graph.ID{id}, graph.Reach{Kinds: ClosureKinds}) {
		claimant, d := r.DoubtAbout(above)
		if d != Undecided || claimant >= seq {
			continue
		}
		if err := r.Progress.Await(ctx, claimant, Decided); err != nil {
			return err
		}
	}
	return nil
}

// ClosureKinds are the edges along which a delete-before-replace spreads (steps.md 3.11): all but parent.
const ClosureKinds = graph.Dependency | graph.PropertyDependency | graph.DeletedWith | graph.ReplaceWith | graph.Provider

// IsDeletedBefore reports whether the recorded state of a registration does not count any more because a delete-before-replace of
// something else has deleted it (steps.md 3.6 "recreate"). That goes by names: a resource that the program calls something
// else is checked and compared as usual, and is then one whose replacement has begun.
func (r *Book) IsDeletedBefore(l stages.Located) bool {
	return !l.IsRenamed() && r.Outcomes.IsDeletedByClosure(l.Claimed)
}

// IsDeletedOnceDecided is IsDeletedBefore once every decision that could concern the recorded state has been made.
func (r *Book) IsDeletedOnceDecided(ctx context.Context, l stages.Located) (bool, error) {
	if l.Claimed == nil || l.IsRenamed() {
		return false, nil
	}
	if err := r.AwaitDecisionsAbout(ctx, l.Seq, l.Claimed); err != nil {
		return false, err
	}
	return r.IsDeletedBefore(l), nil
}
