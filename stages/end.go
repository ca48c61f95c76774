package stages

import (
	"context"
	"fmt"
	"math"

	"github.com/sourcegraph/conc/panics"

	"github.com/sluice-iac/sluice/graph"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// EndPhase deletes what the program no longer declares and what replacements left behind (steps.md 5). It is called once,
// when the program has ended and every chain is done. Each delete starts as soon as those of its dependents are done; a
// failed one keeps what it depends on and nothing else.
func (r *Run) EndPhase(ctx context.Context) error {
	if r.IsHalted() || len(r.base.resources) == 0 {
		return nil
	}
	if err := r.unknownTargets(r.Targeting.Targets); err != nil {
		return err
	}
	chosen, err := r.selected(ctx)
	if err != nil {
		return err
	}
	steps, left := r.planDeletes(chosen)
	if !r.followPlanAtEnd(left, steps) {
		return nil // the run has stopped
	}
	if err := r.untargetedDeletes(steps); err != nil {
		return err
	}
	r.decisions.note(left...)
	for _, s := range left {
		if err := r.deleteOne(s); err != nil {
			return nil // the run has stopped
		}
	}
	ids := make([]graph.ID, 0, len(steps))
	for i := range r.base.resources {
		if s, ok := steps[graph.ID(i)]; ok {
			ids = append(ids, graph.ID(i))
			r.decisions.note(s)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	g := r.base.graph.ExpandComponents(graph.Components{
		IsComponent: func(id graph.ID) bool { return !r.base.resources[id].Custom },
	})
	schedule, err := graph.NewReadySet(g, ids, graph.Schedule{
		Direction: graph.DependentsFirst, Scope: graph.Scope{ThroughOthers: true},
	})
	if err != nil {
		return err // a cycle: a valid base has none
	}
	_ = schedule.Run(ctx, max(1, r.Workers), func(_ context.Context, id graph.ID) error {
		return r.deleteOne(steps[id])
	})
	return nil // what failed is recorded
}

// deleteOne takes one step of the end phase. Its error keeps what the resource depends on.
func (r *Run) deleteOne(s *Step) error {
	if !r.enter() {
		return ErrShutDown
	}
	defer r.leave()
	err := r.takeGuarded(s)
	if err == nil {
		return nil
	}
	if _, protected := err.(*ProtectedError); !protected && !r.ContinueOnError {
		r.halted.Fire()
	}
	return err
}

// afterAll is the number of what comes after all registrations.
const afterAll = math.MaxInt

// takeGuarded takes a step outside of the pipeline, which would turn a panic into an error.
func (r *Run) takeGuarded(s *Step) error {
	var err error
	if p := panics.Try(func() { err = r.runStep(s) }); p != nil {
		return r.broken(s, fmt.Errorf("%s of %s: %w", s.Op, s.URN, p.AsError()))
	}
	return err
}

// planDeletes chooses the steps of the end phase, by base position (steps.md 5.2). All of them are known before the first
// one runs, because a delete may be spared by another (ORD-7).
//
// left are the steps of what stays because it is not part of the operation.
func (r *Run) planDeletes(chosen map[graph.ID]bool) (steps map[graph.ID]*Step, left []*Step) {
	steps = map[graph.ID]*Step{}
	needed := r.stillNeeded()
	for i, res := range r.base.resources {
		now := r.world.current(res)
		if now == nil || res.ViewOf != "" {
			continue
		}
		if chosen != nil && !chosen[graph.ID(i)] {
			if !now.Delete && !r.isOperatedOn(res.URN) {
				left = append(left, carriedStep(now))
			}
			continue
		}
		op, why := r.fateOf(res, now)
		if op == "" {
			continue
		}
		if needed[graph.ID(i)] {
			r.noteStay(now, Reason{Kind: ReasonNeeded})
			continue
		}
		r.outcomes.add(res.URN, deleted)
		steps[graph.ID(i)] = &Step{seq: afterAll, place: len(r.base.resources) - i, StepInfo: StepInfo{
			Op: op, URN: now.URN, Type: now.Type, Old: now, Provider: now.Provider, Reason: why,
			Internal: isDefaultProvider(now.URN) || op == OpRemovePendingReplace,
		}}
	}
	return steps, left
}

// stillNeeded returns the base states that failed and skipped registrations leave in use. What failed keeps everything that
// its recorded state depends on (steps.md 5.3 rule 4). What was skipped keeps what that state could not do without: its
// provider and what is not replaced but gone; the old copy of something that has a new one is not missed.
func (r *Run) stillNeeded() map[graph.ID]bool {
	var failed, skipped []graph.ID
	for i, res := range r.base.resources {
		cause, ok := r.world.failureOf(r.names.newNameOf(res.URN))
		switch {
		case !ok || r.world.current(res) == nil:
		case cause == r.names.newNameOf(res.URN):
			failed = append(failed, graph.ID(i))
		default:
			skipped = append(skipped, graph.ID(i))
		}
	}
	needed := map[graph.ID]bool{}
	if len(failed)+len(skipped) == 0 {
		return needed
	}
	for _, id := range r.base.graph.TransitiveDependencies(skipped, graph.Reach{}) {
		res := r.base.resources[id]
		if now := r.world.current(res); now != nil && (!now.Delete || res.Type.IsProvider()) {
			needed[id] = true
		}
	}
	for _, id := range r.base.graph.TransitiveDependencies(failed, graph.Reach{}) {
		needed[id] = true
	}
	return needed
}

// fateOf says what happens to a recorded state at the end; "" is nothing.
func (r *Run) fateOf(res, now *state.Resource) (Op, Reason) {
	switch {
	case now.Delete && len(r.outcomes.deletesOf(res)) > 0:
		return "", Reason{}
	case now.Delete && now.External:
		return OpDiscardReplaced, Reason{Kind: ReasonReplaced}
	case now.Delete:
		return OpDeleteReplaced, Reason{Kind: ReasonReplaced}
	case r.isOperatedOn(res.URN):
		return "", Reason{}
	}
	why := Reason{Kind: ReasonNotInProgram}
	switch parent := res.Parent; {
	case r.Destroy:
		why.Kind = ReasonDestroy
	case parent != "" && parent.Type() != urn.RootStackType && !r.isOperatedOn(parent) && r.base.olds[parent] != nil:
		why.Cause = parent
	}
	switch {
	case now.PendingReplacement:
		return OpRemovePendingReplace, why
	case now.External:
		return OpDiscard, why
	}
	return OpDelete, why
}

// isOperatedOn tells whether a registration goes on with the recorded URN (steps.md 0.2). Creates do not count: a URN
// that is created is not in the base.
func (r *Run) isOperatedOn(u urn.URN) bool {
	return r.outcomes.has(r.names.newNameOf(u), same|updated|replaced|read|refreshed)
}
