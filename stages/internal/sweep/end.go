package sweep

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/sourcegraph/conc/pool"

	"github.com/sluice-iac/sluice/graph"
	"github.com/sluice-iac/sluice/pipeline"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/internal/access"
	"github.com/sluice-iac/sluice/stages/internal/book"
	"github.com/sluice-iac/sluice/stages/internal/closure"
	"github.com/sluice-iac/sluice/stages/internal/control"
	"github.com/sluice-iac/sluice/stages/internal/execute"
	"github.com/sluice-iac/sluice/stages/internal/plan"
	"github.com/sluice-iac/sluice/stages/internal/targeting"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// EndPhase is [Run.EndPhase].
func (sw *Sweeper) EndPhase(ctx context.Context) error {
	if sw.Control.IsHalted() {
		return nil
	}
	keeps := sw.keepsUndeclared() // a target that names nothing hides nothing from the program
	unknown := errors.Join(sw.Targets.UnknownTargets(sw.Book.Targeting.Targets), sw.Targets.UnknownExcludes())
	if err := sw.finish(ctx, keeps); err != nil {
		return err
	}
	return unknown
}

func (sw *Sweeper) finish(ctx context.Context, keeps bool) error {
	switch {
	case len(sw.Book.Base.Resources) == 0 && !sw.Book.Decisions.Declares():
		return nil
	case sw.Book.Mode == stages.ModeRefresh:
		return sw.Reader.refreshRest(ctx)
	}
	all := sw.Book.Remains()
	chosen, err := sw.selected(ctx, all)
	if err != nil {
		return err
	}
	steps, left := sw.planDeletes(all, chosen, keeps)
	if !sw.Plans.FollowAtEnd(left, steps) {
		return nil // the run has stopped
	}
	if err := sw.ensureProviders(ctx, steps); err != nil {
		return err
	}
	if err := sw.untargetedDeletes(all, steps); err != nil {
		return err
	}
	tasks, err := sw.endTasks(all, steps, left)
	if err != nil {
		return err
	}
	if err := closure.ShowWaves(sw.Control, all.WithinComponents(), steps, "", nil); err != nil {
		return err
	}
	b := stages.Built{Located: stages.Located{Seq: stages.EndPhaseSeq}, Tasks: tasks}
	if err := sw.offer(steps); err != nil {
		return err
	}
	return sw.Executor.TakeBatch(b, sw.Finish)
}

// offer shows the deletes to the caller's stages, in the order of the plan. None has begun.
func (sw *Sweeper) offer(steps map[graph.ID]*stages.Decision) error {
	if sw.Deleting == nil || len(steps) == 0 {
		return nil
	}
	inOrder := slices.SortedFunc(maps.Values(steps), func(a, b *stages.Decision) int { return a.Rank.Compare(b.Rank) })
	err := sw.Deleting(sw.Control.Admitted, stages.DeletesIn(inOrder))
	if err != nil {
		sw.Control.Halt()
	}
	return sw.Control.Unrecorded(err)
}

// endTasks makes the tasks of the end phase: first what stays, then the deletes, each as soon as those of its dependents are
// done; a failed one keeps what it depends on and nothing else.
func (sw *Sweeper) endTasks(all book.EndGraph, deletes map[graph.ID]*stages.Decision, left []*stages.Decision) ([]stages.Task, error) {
	schedule, err := all.WithinComponents().Schedule(slices.Collect(maps.Keys(deletes)), closure.DeletesFirst)
	if err != nil {
		return nil, err // a cycle: a valid base has none
	}
	var tasks []stages.Task
	var gate []graph.ID
	if len(left) > 0 {
		sw.Decisions.Note(left...)
		gate = []graph.ID{sw.Book.Tasks.New(1)}
		tasks = append(tasks, stages.Task{ID: gate[0], Steps: left})
	}
	first := sw.Book.Tasks.New(len(schedule))
	for i, entry := range schedule {
		t := closure.TaskOf(entry, first, graph.ID(i))
		if len(t.After) == 0 {
			t.After = gate
		}
		if s := deletes[entry.Node]; !entry.Relay {
			t.Steps = []*stages.Decision{s}
			sw.Decisions.Note(s)
		}
		tasks = append(tasks, t)
	}
	return tasks, nil
}

// ensureProviders starts the providers of everything that is to be deleted before any of it is, those also that will have
// nothing to do (steps.md 5.2): if one cannot be started, nothing is deleted.
func (sw *Sweeper) ensureProviders(ctx context.Context, steps map[graph.ID]*stages.Decision) error {
	users := map[string]*state.Resource{} // one for each provider and extension
	for _, s := range steps {
		if s.Op == stages.OpRemovePendingReplace && sw.Book.Base.Providers[s.Old.Provider] == nil {
			continue // the state of something deleted need not have a provider (state.md 1.14 I-4)
		}
		key := s.Old.Provider + " " + s.Old.ExtensionRef
		if u := users[key]; s.Old.Provider != "" && (u == nil || s.Old.URN < u.URN) {
			users[key] = s.Old
		}
	}
	keys := slices.Sorted(maps.Keys(users))
	errs := make([]error, len(keys))
	p := pool.New().WithMaxGoroutines(sw.Access.ReadWorkers())
	for i, key := range keys {
		p.Go(func() { _, errs[i] = sw.Access.ProviderFor(ctx, users[key]) })
	}
	p.Wait()
	var failed error
	for i, err := range errs {
		if err != nil {
			failed = sw.Control.Bail(stages.Located{URN: users[keys[i]].URN, Seq: stages.EndPhaseSeq}, stages.CodeFailed, err)
		}
	}
	return failed
}

// planDeletes chooses the steps of the end phase, by base position (steps.md 5.2). All of them are known before the first
// one runs, because a delete may be spared by another (ORD-7).
//
// left are the steps of what stays because it is not part of the operation. keeps is what [Sweeper.keepsUndeclared] returns.
func (sw *Sweeper) planDeletes(all book.EndGraph, chosen map[urn.URN]bool, keeps bool) (steps map[graph.ID]*stages.Decision, left []*stages.Decision) {
	steps = map[graph.ID]*stages.Decision{}
	needed := sw.stillNeeded(all, keeps)
	for i, res := range all.Resources {
		now := sw.Book.Results.Current(res)
		if now == nil || res.ViewOf != "" {
			continue
		}
		if chosen != nil && !chosen[res.URN] {
			if !sw.Book.IsOperatedOn(res.URN) {
				left = append(left, stages.CarriedForwardStep(now)) // old copies of it, too
			}
			continue
		}
		op, why := sw.endStepFor(res, now, all.Declared[graph.ID(i)])
		if op == "" {
			continue
		}
		if keeps && isForWantOfDeclaration(op) {
			sw.keepUndecided(all, graph.ID(i), now)
			continue
		}
		if needed[graph.ID(i)] {
			sw.Decisions.CarryForward(now, stages.Reason{Kind: stages.ReasonNeeded})
			continue
		}
		sw.Decisions.Add(res.URN, book.Deleted)
		steps[graph.ID(i)] = &stages.Decision{Rank: stages.Rank{Seq: stages.EndPhaseSeq, Place: len(all.Resources) - i}, StepInfo: stages.StepInfo{
			Op: op, URN: now.URN, Type: now.Type, Old: now, Provider: now.Provider, Reason: why,
			Internal: now.URN.IsDefaultProvider() || op == stages.OpRemovePendingReplace, RetainedNow: op == stages.OpDeleteReplaced && sw.retainsNow(now),
		}}
	}
	return steps, left
}

// keepUndecided records that a recorded state stays although the program has not declared it: something failed, so that this does not
// prove that it was removed. The reason names the failed resource that the state depends on, if there is one.
func (sw *Sweeper) keepUndecided(all book.EndGraph, id graph.ID, now *state.Resource) {
	if _, skipped := sw.Book.FailureOf(sw.Book.Names.NewNameOf(now.URN)); skipped {
		return // its own outcome shows that
	}
	why := stages.Reason{Kind: stages.ReasonUndecided}
	for _, dep := range all.Graph.TransitiveDependencies([]graph.ID{id}, graph.Reach{}) {
		cause, failed := sw.Book.FailureOf(sw.Book.Names.NewNameOf(all.Resources[dep].URN))
		if failed && (why.Cause == "" || cause < why.Cause) {
			why.Cause = cause
		}
	}
	sw.Decisions.CarryForward(now, why)
}

// stillNeeded returns the base states that failed and skipped registrations leave in use. What failed keeps everything that
// its recorded state depends on (steps.md 5.3 rule 4), and so does an old copy that a delete-before-replace has not deleted. What was skipped, or is no part of the operation, keeps what that
// state could not do without: its provider and what is not replaced but gone; the old copy of something that has a new one
// is not missed.
//
// keeps says that what the program has not declared stays, too: see [Sweeper.keepsUndeclared]. What is not chosen needs no look: what it depends
// on is not chosen either (see [Sweeper.selected]).
func (sw *Sweeper) stillNeeded(all book.EndGraph, keeps bool) map[graph.ID]bool {
	var failed, skipped, asRecorded []graph.ID
	for i, res := range all.Resources {
		cause, ok := sw.Book.FailureOf(sw.Book.Names.NewNameOf(res.URN))
		now := sw.Book.Results.Current(res)
		switch {
		case now == nil:
		case isTakenByClosure(sw.Book, res, now): // and its delete has failed, or was not begun
			failed = append(failed, graph.ID(i))
		case !ok:
			stays := keeps || sw.Book.IsOperatedOn(res.URN) && !all.Declared[graph.ID(i)]
			if !stays || now.Delete || res.ViewOf != "" {
				continue
			}
			if now == res {
				asRecorded = append(asRecorded, graph.ID(i))
			}
			if p := sw.Book.Results.Current(all.Providers[now.Provider]); p != nil && p.Delete {
				skipped = append(skipped, graph.ID(i)) // it has not gone over to the new copy of its provider
			}
		case cause == sw.Book.Names.NewNameOf(res.URN):
			failed = append(failed, graph.ID(i))
		default:
			skipped = append(skipped, graph.ID(i))
		}
	}
	needed := map[graph.ID]bool{}
	if len(failed)+len(skipped)+len(asRecorded) == 0 {
		return needed
	}
	for id := range dependenciesOf(all, skipped) {
		res := all.Resources[id]
		if now := sw.Book.Results.Current(res); now != nil && (!now.Delete || res.Type.IsProvider()) {
			needed[id] = true
		}
	}
	isElse := func(id graph.ID) bool {
		res := all.Resources[id]
		now := sw.Book.Results.Current(res)
		// What has another record by now depends on other things, unless it only awaits its replacement.
		return now == nil || now != res && !now.PendingReplacement || now.Delete && !res.Type.IsProvider()
	}
	for _, id := range all.Graph.TransitiveDependencies(asRecorded, graph.Reach{Skip: isElse}) {
		needed[id] = true
	}
	maps.Copy(needed, dependenciesOf(all, failed))
	return needed
}

// keepsUndeclared reports whether what the program has not declared stays nevertheless. After a failure the program may have come to its end
// without registering what it declares: an evaluator leaves out what uses a resource that was not made, and an SDK what is declared in a
// callback for an output that never came (decision 0165). A preview goes on after refusals, which hide nothing from it. A destroy
// deletes whatever is declared.
func (sw *Sweeper) keepsUndeclared() bool {
	return sw.Book.Mode == stages.ModeUpdate && (sw.Book.HasFailures() || !sw.Control.DryRun() && sw.Control.HasFailed())
}

// isForWantOfDeclaration reports whether the end phase of an update takes a step of this kind only because the program has not declared the
// resource. Old copies go because they are replaced.
func isForWantOfDeclaration(op stages.Op) bool {
	return op == stages.OpDelete || op == stages.OpDiscard || op == stages.OpRemovePendingReplace
}

// retainsNow reports whether the program declares that the objects of a resource are retained, and the old copy does not say so.
func (sw *Sweeper) retainsNow(old *state.Resource) bool {
	made := sw.Book.Results.Made(sw.Book.Names.NewNameOf(old.URN))
	return made != nil && made.RetainOnDelete && !old.RetainOnDelete
}

// isTakenByClosure reports whether a delete-before-replace was to delete an old copy, which the end phase leaves alone then.
func isTakenByClosure(b *book.Book, res, now *state.Resource) bool {
	return now.Delete && len(b.Decisions.DeletionsOf(res)) > 0
}

// dependenciesOf returns everything that some of the given states depend on, others of the given ones among it.
func dependenciesOf(all book.EndGraph, ids []graph.ID) map[graph.ID]bool {
	out := map[graph.ID]bool{}
	for _, id := range slices.Concat(ids, all.Graph.TransitiveDependencies(ids, graph.Reach{})) {
		for _, e := range all.Graph.Dependencies(id) {
			out[e.ID] = true
		}
	}
	return out
}

// endStepFor returns what the end phase does with a state and why; "" is nothing. declared is true for a state that the program
// of a destroy has declared.
func (sw *Sweeper) endStepFor(res, now *state.Resource, declared bool) (stages.Op, stages.Reason) {
	switch {
	case isTakenByClosure(sw.Book, res, now):
		return "", stages.Reason{}
	case now.Delete && now.External:
		return stages.OpDiscardReplaced, stages.Reason{Kind: stages.ReasonReplaced}
	case now.Delete:
		why := stages.Reason{Kind: stages.ReasonReplaced}
		if !res.Delete && sw.Book.Decisions.Has(res.URN, book.PossiblyReplaced) {
			why.Possible = &stages.Possibility{Otherwise: stages.OpSame}
		}
		return stages.OpDeleteReplaced, why
	case !declared && sw.Book.IsOperatedOn(res.URN):
		return "", stages.Reason{}
	}
	why := stages.Reason{Kind: stages.ReasonNotInProgram}
	switch parent := res.Parent; {
	case sw.Book.Mode == stages.ModeDestroy:
		why.Kind = stages.ReasonDestroy
	case parent != "" && parent.Type() != urn.RootStackType && !sw.Book.IsOperatedOn(parent) && sw.Book.Base.Olds[parent] != nil:
		why.Cause = parent
	}
	switch {
	case now.PendingReplacement:
		return stages.OpRemovePendingReplace, why
	case now.External:
		return stages.OpDiscard, why
	}
	return stages.OpDelete, why
}

// Sweeper ends a run: it deletes what the program no longer declares.
type Sweeper struct {
	Control   *control.Control
	Book      *book.Book
	Decisions *book.DecisionsWriter // build has ended
	Access    *access.Access
	Plans     *plan.Plans
	Targets   *targeting.Targets
	Executor  *execute.Executor
	Prober    *closure.Prober
	Reader    *Reader

	// Deleting is called with all deletes before the first begins; nil if nobody looks. Finish runs them.
	Deleting func(context.Context, []stages.Deleting) error
	Finish   func(context.Context, pipeline.Flow[stages.Executed]) error
}
