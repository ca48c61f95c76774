package endphase

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/sluice-iac/sluice/advice"
	"github.com/sluice-iac/sluice/graph"
	"github.com/sluice-iac/sluice/pipeline"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/internal/access"
	"github.com/sluice-iac/sluice/stages/internal/closure"
	"github.com/sluice-iac/sluice/stages/internal/control"
	"github.com/sluice-iac/sluice/stages/internal/execute"
	"github.com/sluice-iac/sluice/stages/internal/plan"
	"github.com/sluice-iac/sluice/stages/internal/refresh"
	"github.com/sluice-iac/sluice/stages/internal/rooms"
	"github.com/sluice-iac/sluice/stages/internal/targeting"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
	"github.com/sourcegraph/conc/pool"
)

// Phase is the end phase of a run: it deletes the resources that the program no longer declares.
type Phase struct {
	Control   *control.Control
	Rooms     *rooms.Rooms
	Decisions *rooms.DecisionsWriter // build has ended
	Access    *access.Access
	Plans     *plan.Plans
	Targets   *targeting.Targets
	Scheduler *execute.Scheduler
	Prober    *closure.Prober
	Reader    *refresh.Reader

	// Deleting is called with all deletes before the first begins; nil calls nothing. Drain runs the deletes to their end.
	Deleting func(context.Context, []stages.Deleting) error
	Drain    func(context.Context, pipeline.Flow[stages.Executed]) error
}

// Run runs the end phase, when the program has ended and the steps of all registrations are over.
func (ph *Phase) Run(ctx context.Context) error {
	if ph.Control.IsHalted() {
		return nil
	}
	keeps := keepsUndeclared(ph.Control, ph.Rooms) // before unknown targets count as failures: they hide nothing from the program
	unknown := errors.Join(ph.Targets.UnknownTargets(ph.Rooms.Targeting.Targets), ph.Targets.UnknownExcludes())
	if err := ph.deleteRest(ctx, keeps); err != nil {
		return err
	}
	return unknown
}

func (ph *Phase) deleteRest(ctx context.Context, keeps bool) error {
	switch {
	case len(ph.Rooms.Base.Resources) == 0 && !ph.Rooms.Decisions.Declares():
		return nil
	case ph.Rooms.Mode == stages.ModeRefresh:
		return ph.Reader.RefreshRest(ctx)
	}
	all := rooms.Remains(ph.Rooms)
	if ph.Rooms.Targeting.Targets.IsConstrained() {
		probeTargets(ctx, ph, all)
	}
	steps, left := ph.planDeletes(all, selected(ph.Rooms, all), keeps)
	if !ph.Plans.FollowAtEnd(left, steps) {
		return nil // the run has stopped
	}
	if err := ph.ensureProviders(ctx, steps); err != nil {
		return err
	}
	if err := ph.untargetedDeletes(all, steps); err != nil {
		return err
	}
	tasks, err := ph.endTasks(all, steps, left)
	if err != nil {
		return err
	}
	if err := closure.ShowWaves(ph.Control, all.Base.WithinComponents(), steps); err != nil {
		return err
	}
	b := stages.Built{Located: stages.Located{Seq: stages.EndPhaseSeq}, Tasks: tasks}
	if err := ph.offer(steps); err != nil {
		return err
	}
	return ph.Scheduler.RunBatch(b, ph.Drain)
}

// offer passes the deletes to the caller's stages, in the order of the plan. None has begun.
func (ph *Phase) offer(steps map[graph.ID]*stages.Decision) error {
	if ph.Deleting == nil || len(steps) == 0 {
		return nil
	}
	inOrder := slices.SortedFunc(maps.Values(steps), func(a, b *stages.Decision) int { return a.Rank.Compare(b.Rank) })
	err := ph.Deleting(ph.Control.Admitted, stages.DeletesIn(inOrder))
	if err != nil {
		ph.Control.Halt()
	}
	return ph.Control.Unrecorded(err)
}

// endTasks makes the tasks of the end phase: first the states that stay, then the deletes, each as soon as those of its dependents
// are done. A failed delete keeps only the dependencies of its resource.
func (ph *Phase) endTasks(all rooms.EndGraph, deletes map[graph.ID]*stages.Decision, left []*stages.Decision) ([]stages.Task, error) {
	schedule, err := all.Base.WithinComponents().Schedule(slices.Collect(maps.Keys(deletes)), closure.DeletesFirst)
	if err != nil {
		return nil, err // a cycle: a valid base has none
	}
	var tasks []stages.Task
	var gate []graph.ID
	if len(left) > 0 {
		ph.Decisions.Note(left...)
		gate = []graph.ID{ph.Rooms.Tasks.New(1)}
		tasks = append(tasks, stages.Task{ID: gate[0], Steps: left})
	}
	first := ph.Rooms.Tasks.New(len(schedule))
	for i, entry := range schedule {
		t := closure.TaskOf(entry, first, graph.ID(i))
		if len(t.After) == 0 {
			t.After = gate
		}
		if s := deletes[entry.Node]; !entry.Relay {
			t.Steps = []*stages.Decision{s}
			ph.Decisions.Note(s)
		}
		tasks = append(tasks, t)
	}
	return tasks, nil
}

// ensureProviders starts the providers of all states that are to be deleted before any delete, also those that will have nothing to
// do (steps.md 5.2): if one cannot be started, nothing is deleted.
func (ph *Phase) ensureProviders(ctx context.Context, steps map[graph.ID]*stages.Decision) error {
	type use struct{ provider, extension string }
	users := map[use]*state.Resource{} // one for each
	for _, s := range steps {
		if s.Op == stages.OpRemovePendingReplace && ph.Rooms.Base.Providers[s.Old.Provider] == nil {
			continue // the state of something deleted need not have a provider (state.md 1.14 I-4)
		}
		key := use{s.Old.Provider, s.Old.ExtensionRef}
		if u := users[key]; s.Old.Provider != "" && (u == nil || s.Old.URN < u.URN) {
			users[key] = s.Old
		}
	}
	keys := slices.SortedFunc(maps.Keys(users), func(a, b use) int {
		return cmp.Or(cmp.Compare(a.provider, b.provider), cmp.Compare(a.extension, b.extension))
	})
	errs := make([]error, len(keys))
	p := pool.New().WithMaxGoroutines(ph.Access.ReadWorkers())
	for i, key := range keys {
		p.Go(func() { _, errs[i] = ph.Access.ProviderFor(ctx, users[key]) })
	}
	p.Wait()
	var failed error
	for i, err := range errs {
		if err != nil {
			failed = ph.Control.Bail(stages.Located{URN: users[keys[i]].URN, Seq: stages.EndPhaseSeq}, stages.CodeFailed, err)
		}
	}
	return failed
}

// planDeletes chooses the steps of the end phase, by base position (steps.md 5.2). All of them are known before the first one runs,
// because one delete may make another unnecessary (ORD-7).
//
// left are the steps of states that stay because they are not part of the operation. keeps is the result of
// [keepsUndeclared].
func (ph *Phase) planDeletes(all rooms.EndGraph, chosen map[urn.URN]bool, keeps bool) (steps map[graph.ID]*stages.Decision, left []*stages.Decision) {
	steps = map[graph.ID]*stages.Decision{}
	needed := retained(all, func(id graph.ID) retention { return retentionOf(standingOf(ph.Rooms, all, id, keeps)) }, ph.Rooms.Results.Current,
		func(u urn.URN) *state.Resource { return ph.Rooms.Results.Made(ph.Rooms.Names.NewNameOf(u)) })
	for i, res := range all.Base.Resources {
		now := ph.Rooms.Results.Current(res)
		if now == nil || res.ViewOf != "" {
			continue
		}
		if chosen != nil && !chosen[res.URN] {
			if !ph.Rooms.IsOperatedOn(res.URN) {
				left = append(left, stages.CarriedForwardStep(now)) // old copies of it, too
			}
			continue
		}
		op, why := ph.endStepFor(res, now, all.Declared[graph.ID(i)])
		if op == "" {
			continue
		}
		if keeps && isForWantOfDeclaration(op) {
			ph.keepUndecided(all, graph.ID(i), now)
			continue
		}
		if needed[graph.ID(i)] {
			ph.Decisions.CarryForward(now, stages.Reason{Kind: stages.ReasonNeeded})
			continue
		}
		ph.Decisions.Add(res.URN, rooms.Deleted)
		steps[graph.ID(i)] = &stages.Decision{Rank: stages.Rank{Seq: stages.EndPhaseSeq, Place: len(all.Base.Resources) - i}, StepInfo: stages.StepInfo{
			Op: op, URN: now.URN, Type: now.Type, Old: now, Provider: now.Provider, Reason: why,
			Internal: now.URN.IsDefaultProvider() || op == stages.OpRemovePendingReplace, RetainedNow: op == stages.OpDeleteReplaced && ph.retainsNow(now),
			CurrentURN: ph.renamedTo(res),
		}}
	}
	ph.retainImported(steps)
	return steps, left
}

// retainImported makes deletes retain the objects that imports have recorded in other states, too (decision 0236). If the other state is
// deleted as well, one of the two deletes the object.
func (ph *Phase) retainImported(steps map[graph.ID]*stages.Decision) {
	if !ph.hasImported(steps) {
		return
	}
	going := map[*state.Resource]*stages.Decision{}
	byID := map[string]*sharers{}
	for _, s := range steps {
		if s.Old.Custom && s.Old.ID != "" && !s.Retains() {
			going[s.Old] = s
			byID[s.Old.ID] = &sharers{}
		}
	}
	if len(going) == 0 {
		return
	}
	for res := range ph.Rooms.Live() {
		for _, id := range slices.Compact([]string{res.ID, res.ImportID}) {
			if of := byID[id]; of != nil {
				of.add(res)
			}
		}
	}
	for old, s := range going {
		for _, other := range byID[old.ID].whichMatter(old) {
			its := going[other]
			deletesIt := its != nil && !old.Delete && s.Rank.Compare(its.Rank) < 0
			if rooms.IsObjectOf(old, other) && !deletesIt {
				s.RetainedNow = true
			}
		}
	}
}

// hasImported reports whether an import has recorded one of the deleted or live objects. Without imports no two states have one object.
func (ph *Phase) hasImported(steps map[graph.ID]*stages.Decision) bool {
	for _, s := range steps {
		if s.Old.ImportID != "" {
			return true
		}
	}
	for res := range ph.Rooms.Live() {
		if res.ImportID != "" {
			return true
		}
	}
	return false
}

// sharers are the live states with one ID. They are about one object only if one was imported, so that of many states with an ID that says
// nothing none is compared.
type sharers struct{ all, imported []*state.Resource }

func (sh *sharers) add(res *state.Resource) {
	sh.all = append(sh.all, res)
	if res.ImportID != "" {
		sh.imported = append(sh.imported, res)
	}
}

// whichMatter returns the states that may have the object of a state that is deleted: imported ones, and all others if it was imported itself.
func (sh *sharers) whichMatter(old *state.Resource) []*state.Resource {
	if old.ImportID != "" && !old.Delete {
		return sh.all
	}
	return sh.imported
}

// endStepFor returns the step of the end phase for a state, and its reason; "" is no step. declared is true for a state that the
// program of a destroy has declared.
func (ph *Phase) endStepFor(res, now *state.Resource, declared bool) (stages.Op, stages.Reason) {
	switch {
	case isTakenByClosure(ph.Rooms, res, now):
		return "", stages.Reason{}
	case now.Delete && now.External:
		return stages.OpDiscardReplaced, stages.Reason{Kind: stages.ReasonReplaced}
	case now.Delete:
		why := stages.Reason{Kind: stages.ReasonReplaced}
		if !res.Delete && ph.Rooms.Decisions.Has(res.URN, rooms.PossiblyReplaced) {
			why.Possible = &stages.Possibility{Otherwise: stages.OpSame}
		}
		return stages.OpDeleteReplaced, why
	case !declared && ph.Rooms.IsOperatedOn(res.URN):
		return "", stages.Reason{}
	}
	why := stages.Reason{Kind: stages.ReasonNotInProgram}
	switch parent := res.Parent; {
	case ph.Rooms.Mode == stages.ModeDestroy:
		why.Kind = stages.ReasonDestroy
	case parent != "" && parent.Type() != urn.RootStackType && !ph.Rooms.IsOperatedOn(parent) && ph.Rooms.Base.Olds[parent] != nil:
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

// keepUndecided records that a recorded state stays although the program has not declared it: something failed, so that the missing
// declaration does not prove that it was removed. The reason names the failed resource that the state depends on, if there is one.
func (ph *Phase) keepUndecided(all rooms.EndGraph, id graph.ID, now *state.Resource) {
	if _, skipped := ph.Rooms.Failures.Of(ph.Rooms.Names.NewNameOf(now.URN)); skipped {
		return // its own outcome shows that
	}
	var needs []urn.URN
	for _, dep := range all.Base.Graph.TransitiveDependencies([]graph.ID{id}, graph.Reach{}) {
		needs = append(needs, ph.Rooms.Names.NewNameOf(all.Base.Resources[dep].URN))
	}
	cause, _ := ph.Rooms.Failures.FirstCause(needs...)
	ph.Decisions.CarryForward(now, stages.Reason{Kind: stages.ReasonUndecided, Cause: cause})
}

// renamedTo returns the URN under which the program has registered the resource of a base state, if that is another one; "" else. An old
// copy of an earlier run belongs to no registration.
func (ph *Phase) renamedTo(res *state.Resource) urn.URN {
	if now := ph.Rooms.Names.NewNameOf(res.URN); !res.Delete && now != res.URN {
		return now
	}
	return ""
}

// retainsNow reports whether the program now retains the objects of a resource, and its old copy does not.
func (ph *Phase) retainsNow(old *state.Resource) bool {
	made := ph.Rooms.Results.Made(ph.Rooms.Names.NewNameOf(old.URN))
	return made != nil && made.RetainOnDelete && !old.RetainOnDelete
}

// untargetedDeletes reports deletes that targets imply without naming them (steps.md 5.2).
func (ph *Phase) untargetedDeletes(all rooms.EndGraph, steps map[graph.ID]*stages.Decision) error {
	if !ph.Rooms.Targeting.Targets.IsConstrained() || ph.Rooms.Targeting.TargetDependents {
		return nil
	}
	var found []urn.URN
	for i := range all.Base.Resources {
		s, ok := steps[graph.ID(i)]
		if !ok || s.Op == stages.OpSame || ph.Rooms.Targeting.Targets.Matches(s.URN) {
			continue
		}
		found = append(found, s.URN)
		err := fmt.Errorf("Resource '%v' will be destroyed but was not specified in --target list.\n"+
			"Either include resource in --target list or pass --target-dependents to proceed.", s.URN)
		ph.Control.Fail(s.Seq, s.URN, stages.CodeUntargetedDelete, err)
	}
	if len(found) == 0 {
		return nil
	}
	slices.Sort(found)
	found = slices.Compact(found)
	ph.Control.Diagnose("", stages.Info, 0, "Resources that are not targets would have to be deleted.",
		advice.On(advice.TargetDeleted, found...))
	if !ph.Control.DryRun() {
		ph.Control.Halt()
		return &stages.ReportedError{Err: errors.New("delete untargeted resource")}
	}
	return nil
}
