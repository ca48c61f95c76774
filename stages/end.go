package stages

import (
	"context"
	"maps"
	"slices"

	"github.com/sourcegraph/conc/pool"

	"github.com/sluice-iac/sluice/graph"
	"github.com/sluice-iac/sluice/pipeline"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// EndPhase deletes what the program no longer declares and what replacements left behind (steps.md 5); in a destroy also
// what it does declare. In a refresh it reads what the program does not declare instead (7.4). It is called once, when the
// program has ended and every chain is done. Each delete starts as soon as those of its dependents are done; a failed one
// keeps what it depends on and nothing else.
//
// A target that nothing has turned out to be fails the run, but not before the others have been treated: what they name in
// the program has been (5.1).
func (r *Run) EndPhase(ctx context.Context) error {
	if r.IsHalted() {
		return nil
	}
	unknown := r.unknownTargets(r.Targeting.Targets)
	if err := r.finish(ctx); err != nil {
		return err
	}
	return unknown
}

func (r *Run) finish(ctx context.Context) error {
	switch {
	case len(r.base.resources) == 0 && len(r.declared) == 0:
		return nil
	case r.Mode == ModeRefresh:
		return r.refreshRest(ctx)
	}
	all := r.remains()
	chosen, err := r.selected(ctx, all)
	if err != nil {
		return err
	}
	steps, left := r.planDeletes(all, chosen)
	if !r.followPlanAtEnd(left, steps) {
		return nil // the run has stopped
	}
	if err := r.ensureProviders(ctx, steps); err != nil {
		return err
	}
	if err := r.untargetedDeletes(all, steps); err != nil {
		return err
	}
	tasks, err := r.endTasks(all, steps, left)
	if err != nil {
		return err
	}
	return r.takeBatch(Built{Located: Located{Seq: AfterAll}, Tasks: tasks})
}

// endTasks makes the tasks of the end phase: first what stays, then the deletes, each as soon as those of its dependents are
// done; a failed one keeps what it depends on and nothing else.
func (r *Run) endTasks(all remains, deletes map[graph.ID]*Decision, left []*Decision) ([]Task, error) {
	schedule, err := all.withinComponents().Schedule(slices.Collect(maps.Keys(deletes)), deletesFirst)
	if err != nil {
		return nil, err // a cycle: a valid base has none
	}
	var tasks []Task
	var gate []graph.ID
	if len(left) > 0 {
		r.record.note(left...)
		gate = []graph.ID{r.outcomes.newTasks(1)}
		tasks = append(tasks, Task{ID: gate[0], Steps: left})
	}
	first := r.outcomes.newTasks(len(schedule))
	for i, entry := range schedule {
		t := taskOf(entry, first, graph.ID(i))
		if len(t.After) == 0 {
			t.After = gate
		}
		if s := deletes[entry.Node]; !entry.Relay {
			t.Steps = []*Decision{s}
			r.record.note(s)
		}
		tasks = append(tasks, t)
	}
	return tasks, nil
}

// takeBatch has tasks taken that belong to no registration, and waits for them. What fails is recorded.
func (r *Run) takeBatch(b Built) error {
	if len(b.Tasks) == 0 {
		return nil
	}
	batch := pipeline.From("decisions", 0, func(_ context.Context, emit pipeline.Emit[Built]) error { return emit(b) })
	return r.Unrecorded(pipeline.Run(r.admission, pipeline.ViaActor(batch, Execute(r)), nil))
}

// ensureProviders starts the providers of everything that is to be deleted before any of it is, those also that will have
// nothing to do (steps.md 5.2): if one cannot be started, nothing is deleted.
func (r *Run) ensureProviders(ctx context.Context, steps map[graph.ID]*Decision) error {
	users := map[string]*state.Resource{} // one for each provider and extension
	for _, s := range steps {
		if s.Op == OpRemovePendingReplace && r.base.providers[s.Old.Provider] == nil {
			continue // the state of something deleted need not have a provider (state.md 1.14 I-4)
		}
		key := s.Old.Provider + " " + s.Old.ExtensionRef
		if u := users[key]; s.Old.Provider != "" && (u == nil || s.Old.URN < u.URN) {
			users[key] = s.Old
		}
	}
	keys := sortedKeys(users)
	errs := make([]error, len(keys))
	p := pool.New().WithMaxGoroutines(readWorkers)
	for i, key := range keys {
		p.Go(func() { _, errs[i] = r.providerFor(ctx, users[key]) })
	}
	p.Wait()
	var failed error
	for i, err := range errs {
		if err != nil {
			failed = r.bail(Located{URN: users[keys[i]].URN, Seq: AfterAll}, codeFailed, err)
		}
	}
	return failed
}

// planDeletes chooses the steps of the end phase, by base position (steps.md 5.2). All of them are known before the first
// one runs, because a delete may be spared by another (ORD-7).
//
// left are the steps of what stays because it is not part of the operation.
func (r *Run) planDeletes(all remains, chosen map[urn.URN]bool) (steps map[graph.ID]*Decision, left []*Decision) {
	steps = map[graph.ID]*Decision{}
	needed := r.stillNeeded(all, chosen)
	for i, res := range all.resources {
		now := r.world.current(res)
		if now == nil || res.ViewOf != "" {
			continue
		}
		if chosen != nil && !chosen[res.URN] {
			if !r.isOperatedOn(res.URN) {
				left = append(left, carriedStep(now)) // old copies of it, too
			}
			continue
		}
		op, why := r.fateOf(res, now, all.declared[res])
		if op == "" {
			continue
		}
		if needed[graph.ID(i)] {
			r.noteStay(now, Reason{Kind: ReasonNeeded})
			continue
		}
		r.outcomes.add(res.URN, deleted)
		steps[graph.ID(i)] = &Decision{Rank: Rank{Seq: AfterAll, Place: len(all.resources) - i}, StepInfo: StepInfo{
			Op: op, URN: now.URN, Type: now.Type, Old: now, Provider: now.Provider, Reason: why,
			Internal: now.URN.IsDefaultProvider() || op == OpRemovePendingReplace,
		}}
	}
	return steps, left
}

// stillNeeded returns the base states that failed and skipped registrations leave in use. What failed keeps everything that
// its recorded state depends on (steps.md 5.3 rule 4). What was skipped, or is no part of the operation, keeps what that
// state could not do without: its provider and what is not replaced but gone; the old copy of something that has a new one
// is not missed.
func (r *Run) stillNeeded(all remains, chosen map[urn.URN]bool) map[graph.ID]bool {
	var failed, skipped []graph.ID
	for i, res := range all.resources {
		cause, ok := r.world.failureOf(r.names.newNameOf(res.URN))
		now := r.world.current(res)
		switch {
		case now == nil:
		case !ok:
			stays := r.isOperatedOn(res.URN) || chosen != nil && !chosen[res.URN]
			if p := r.world.current(all.providers[now.Provider]); stays && !now.Delete && p != nil && p.Delete {
				skipped = append(skipped, graph.ID(i)) // it has not gone over to the new copy of its provider
			}
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
	for _, id := range all.graph.TransitiveDependencies(skipped, graph.Reach{}) {
		res := all.resources[id]
		if now := r.world.current(res); now != nil && (!now.Delete || res.Type.IsProvider()) {
			needed[id] = true
		}
	}
	for _, id := range all.graph.TransitiveDependencies(failed, graph.Reach{}) {
		needed[id] = true
	}
	return needed
}

// fateOf says what happens to a state at the end; "" is nothing. declared ones are those of a destroy's program.
func (r *Run) fateOf(res, now *state.Resource, declared bool) (Op, Reason) {
	switch {
	case now.Delete && len(r.outcomes.deletionsOf(res)) > 0:
		return "", Reason{}
	case now.Delete && now.External:
		return OpDiscardReplaced, Reason{Kind: ReasonReplaced}
	case now.Delete:
		return OpDeleteReplaced, Reason{Kind: ReasonReplaced}
	case !declared && r.isOperatedOn(res.URN):
		return "", Reason{}
	}
	why := Reason{Kind: ReasonNotInProgram}
	switch parent := res.Parent; {
	case r.Mode == ModeDestroy:
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
// that is created is not in the base; one that is imported may be there as what a replacement deleted first.
func (r *Run) isOperatedOn(u urn.URN) bool {
	return r.outcomes.has(r.names.newNameOf(u), same|updated|replaced|read|refreshed|imported)
}
