package stages

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sourcegraph/conc/pool"

	"github.com/sluice-iac/sluice/graph"
	"github.com/sluice-iac/sluice/pipeline"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// Targeting says which resources an operation may touch (steps.md 6). The zero value selects everything.
type Targeting struct {
	// Targets are the only resources to touch; Excludes are those not to touch. At most one of the two is set.
	Targets, Excludes *urn.PatternSet
	// TargetDependents and ExcludeDependents extend them to what depends on their members.
	TargetDependents, ExcludeDependents bool
	// Replace are resources to replace whether or not they have changed.
	Replace *urn.PatternSet
}

// isPartial tells whether an operation is not about everything.
func (t Targeting) isPartial() bool { return t.Targets.IsConstrained() || t.Excludes.IsConstrained() }

// selection is how far targets and excludes have grown during a run. It belongs to the names: lookup alone writes it, in
// order of arrival, so that a dependent sees whether what it depends on is a member (ORD-5).
type selection struct {
	targets, excludes *urn.PatternSet
}

// isImplicit tells whether a resource is part of every operation and makes nothing else part of it (steps.md 6.2).
func isImplicit(t urn.Type) bool { return t.IsProvider() || t == urn.RootStackType }

// include decides whether a registration is part of the operation, and lets targets and excludes grow (steps.md 6.2, 6.3).
// The names must be locked.
func (r *Run) include(l *Located) {
	l.Included = true
	if l.Goal == nil || isImplicit(l.Goal.Type) {
		return
	}
	sel, n := r.Targeting, r.names
	grows := !r.outcomes.isGone(l.claimed) && (l.Old == nil || !l.Old.External)
	switch {
	case sel.Targets.IsConstrained():
		l.Included = sel.Targets.Matches(l.URN) || sel.TargetDependents && l.dependsOnAny(n.grown.targets)
		if l.Included && grows {
			n.grown.targets.Add(l.URN)
		}
	case sel.Excludes.IsConstrained():
		l.Included = !sel.Excludes.Matches(l.URN) && !(sel.ExcludeDependents && l.dependsOnAny(n.grown.excludes))
		if !l.Included && grows {
			n.grown.excludes.Add(l.URN)
		}
	}
	if !l.Included && l.Alias != "" {
		n.kept[l.Alias] = true // the program is told the recorded name
	}
}

// dependsOnAny tells whether the registration refers to a member of the set.
func (l *Located) dependsOnAny(set *urn.PatternSet) bool {
	return refersTo(l.newState(Checked{}), set, 0)
}

// leaveOut decides about a registration that is not part of the operation.
func (b *builder) leaveOut(d Diffed, x pipeline.Exchange[Ask, Built]) error {
	o := b.run.outcomes
	if d.Old == nil {
		s := b.same(d)
		o.leaveUncreated(s.New)
		s.skipped, s.Reason = true, Reason{Kind: ReasonNotTargeted}
		return b.commit(d, []*Step{s}, x)
	}
	if err := b.providerIsThere(d); err != nil {
		return err
	}
	steps, err := b.carryReferences(d.Old, d.Located)
	if err != nil {
		return err
	}
	own := carriedStep(d.Old)
	own.replies = true
	o.add(d.URN, same)
	return b.commit(d, append(steps, own), x)
}

// providerIsThere refuses to leave a resource as it is when the program has moved away from its provider (steps.md 6.5),
// unless an earlier registration goes on with that provider. It goes by what is decided: whether the provider runs already
// is a matter of timing.
func (b *builder) providerIsThere(d Diffed) error {
	if _, err := urn.ParseProviderRef(d.Old.Provider); err != nil {
		return nil // components and providers
	}
	if d.Goal.Provider == d.Old.Provider {
		return nil
	}
	recorded := b.run.base.providers[d.Old.Provider]
	if recorded == nil {
		return b.run.bail(d.Located, 0, fmt.Errorf("could not find provider %v in old state", d.Old.Provider))
	}
	claimant, claimed := b.run.names.claimant(recorded)
	if claimed && claimant < d.Seq && !b.run.outcomes.has(b.run.names.newNameOf(recorded.URN), replaced) {
		return nil // it goes on
	}
	return b.run.bail(d.Located, 0, fmt.Errorf("provider %s for resource %s has not been registered yet, this is due to a change of providers "+
		"mixed with --target. Change your program back to the original providers", d.Old.Provider, d.URN))
}

// carriedStep leaves a recorded state as it is.
func carriedStep(res *state.Resource) *Step {
	return &Step{StepInfo: StepInfo{
		Op: OpSame, URN: res.URN, Type: res.Type, Old: res, New: res, Provider: res.Provider, Internal: res.URN.IsDefaultProvider(),
		Reason: Reason{Kind: ReasonNotTargeted},
	}, carried: true}
}

// carryReferences leaves as it is recorded what a state refers to and nothing has been decided about, depth first (steps.md
// 6.5). What is missing from the recorded state is an error only for a state that is left as it is. When everything is part
// of the operation, the state is a provider that is kept, and what it refers to is kept for it.
func (b *builder) carryReferences(res *state.Resource, l Located) (steps []*Step, err error) {
	var olds []*state.Resource
	why := Reason{Kind: ReasonNotTargeted}
	whole := !b.run.Targeting.isPartial()
	if whole {
		why = Reason{Kind: ReasonCarried, Cause: res.URN}
	}
	references(res, func(u urn.URN, kind graph.Kind) {
		old := b.run.base.olds[u]
		if whole && old != nil {
			b.run.decisions.use(old, res.URN)
		}
		switch {
		case b.isGenerated(u):
		case old != nil:
			olds = append(olds, old)
		case len(b.run.base.all[u]) == 0 && res == l.Old && err == nil:
			err = b.run.bail(l, 0, fmt.Errorf("%s %s of untargeted resource %s has no old state", kind, u, l.URN))
		}
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(olds, func(x, y *state.Resource) int { return int(b.run.base.ids[x] - b.run.base.ids[y]) })
	for _, old := range slices.Compact(olds) {
		if b.isGenerated(old.URN) {
			continue // carried meanwhile, as a reference of another one
		}
		b.run.outcomes.add(old.URN, same)
		b.circles.held[old] = true
		more, err := b.carryReferences(old, l)
		if err != nil {
			return nil, err
		}
		carried := carriedStep(old)
		carried.provisional, carried.Reason = true, why
		steps = append(append(steps, more...), carried)
	}
	return steps, nil
}

// isGenerated tells whether something has been decided about a URN, or about the one that took it over.
func (b *builder) isGenerated(u urn.URN) bool {
	const decided = created | same | updated | deleted | replaced | read | imported
	return b.run.outcomes.has(u, decided) || b.run.outcomes.has(b.run.names.newNameOf(u), decided)
}

// uncreated reports a step whose resource depends on something that is not created because it is not part of the
// operation (steps.md 6.4). With excludes alone the rules say nothing of it. A state that refers to what does not exist
// cannot be recorded, so an update is refused then too, before the step is taken; its preview warns. A preview says so of
// each resource: which of them comes first is a matter of timing.
func (r *Run) uncreated(l Located, steps []*Step) error {
	sel := r.Targeting
	targeted := sel.Targets.IsConstrained() || sel.Replace.IsConstrained()
	if !targeted && !sel.Excludes.IsConstrained() {
		return nil
	}
	var said urn.URN // a replacement has several steps
	for _, s := range steps {
		missing := r.missingFrom(s)
		if missing == "" || s.URN == said {
			continue
		}
		code, err := codeUntargetedCreate, fmt.Errorf("Resource '%v' depends on '%v' which was not specified in --target list.\nAdd what it needs: %s",
			s.URN, missing, targetFlags(r.outcomes.missingFor(s.New)))
		if !targeted {
			code, err = 0, fmt.Errorf("resource %q depends on %q, which does not exist and is excluded from the operation: exclude both, "+
				"for example with --exclude-dependents, or neither", s.URN, missing)
		}
		if !r.DryRun() {
			return r.bail(l, code, err)
		}
		said = s.URN
		if !targeted {
			r.warn(s.URN, "%v", err)
			continue
		}
		r.diagnose(s.URN, Error, code, err.Error())
		r.failures.add(Failure{Seq: l.Seq, URN: s.URN, Err: err})
	}
	return nil
}

// targetFlags are the flags that make resources targets.
func targetFlags(us []urn.URN) string {
	flags := make([]string, len(us))
	for i, u := range us {
		flags[i] = "--target " + shellQuote(string(u))
	}
	return strings.Join(flags, " ")
}

// missingFrom returns the first by name of what a step's resource refers to and is not created, "" if there is none.
func (r *Run) missingFrom(s *Step) urn.URN {
	if s.skipped || s.New == nil {
		return ""
	}
	return r.uncreatedOf(s.New)
}

// uncreatedOf returns the first by name of what a state refers to and is not created, "" if there is none.
func (r *Run) uncreatedOf(res *state.Resource) (missing urn.URN) {
	references(res, func(u urn.URN, _ graph.Kind) {
		if (missing == "" || u < missing) && r.outcomes.has(u, skippedCreate) {
			missing = u
		}
	})
	return missing
}

// unknownTargets reports the literal members of a set that name nothing (steps.md 6.6). The run goes on until its caller
// stops it.
func (r *Run) unknownTargets(set *urn.PatternSet) error {
	unknown := false
	for u := range set.Literals() {
		if len(r.base.all[u]) > 0 || r.names.isSeen(u) {
			continue
		}
		unknown = true
		code, text := codeTargetNotFound, fmt.Sprintf("Target '%v' could not be found in the stack.", u)
		if !strings.Contains(string(u), "$") {
			code, text = codeTargetNotFoundEscape, text+" Did you forget to escape $ in your shell?"
		}
		if like := state.Near(r.base.resources, string(u)); len(like) > 0 {
			text += "\nDid you mean"
			for _, u := range like {
				text += "\n  " + shellQuote(string(u))
			}
		} else {
			text += "\n`sluice stack --show-urns` lists what there is."
		}
		r.diagnose("", Error, code, text)
	}
	if !unknown {
		return nil
	}
	r.failures.add(Failure{Err: errUnknownTargets})
	return &bailError{errUnknownTargets}
}

var errUnknownTargets = errors.New("one or more targets could not be found in the stack")

// CheckReplaceTargets refuses targets of a replacement that do not exist. It is called before the program starts.
func (r *Run) CheckReplaceTargets() error { return r.refuseUnknown(r.Targeting.Replace) }

// CheckTargets refuses targets and excludes that the recorded state does not have, for operations that run no program.
func (r *Run) CheckTargets() error { return r.refuseUnknown(r.Targeting.Targets, r.Targeting.Excludes) }

// refuseUnknown stops the run if a set has literal members that name nothing.
func (r *Run) refuseUnknown(sets ...*urn.PatternSet) error {
	for _, set := range sets {
		if err := r.unknownTargets(set); err != nil {
			r.Halt()
			return err
		}
	}
	return nil
}

// selected returns the names of what the end phase may touch among all that there is (steps.md 6.7); nil means all.
func (r *Run) selected(ctx context.Context, all remains) (map[urn.URN]bool, error) {
	sel, g := r.Targeting, all.graph
	matching := func(set *urn.PatternSet) []graph.ID {
		var ids []graph.ID
		for i, res := range all.resources {
			if set.Matches(res.URN) {
				ids = append(ids, graph.ID(i))
			}
		}
		return ids
	}
	out := map[urn.URN]bool{}
	switch {
	case sel.Targets.IsConstrained():
		ids := matching(sel.Targets)
		ids = append(ids, g.TransitiveDependents(ids, graph.Reach{})...)
		for _, id := range ids {
			out[all.resources[id].URN] = true
		}
		if err := r.addReplaced(ctx, all, ids, out); err != nil {
			return nil, err
		}
		// What refers to those cannot stay either.
		for _, id := range g.TransitiveDependents(all.named(out), graph.Reach{}) {
			out[all.resources[id].URN] = true
		}
	case sel.Excludes.IsConstrained():
		left, needs := matching(sel.Excludes), all.withinComponents()
		switch {
		case sel.ExcludeDependents && r.Mode == ModeUpdate:
			left = connected(g, needs, left)
		case sel.ExcludeDependents:
			left = append(left, g.TransitiveDependents(left, graph.Reach{})...)
		}
		left = append(left, needs.TransitiveDependencies(left, graph.Reach{})...)
		for _, res := range all.resources {
			out[res.URN] = true
		}
		for _, id := range left {
			delete(out, all.resources[id].URN)
		}
	default:
		return nil, nil
	}
	return out, nil
}

// connected returns the given nodes and all that depend on them, on what they need, and so on: an update that leaves
// dependents out deletes none of those (decision 0029). needs has the edges to what is needed.
func connected(g, needs *graph.Graph, ids []graph.ID) []graph.ID {
	for before := -1; len(ids) > before; {
		before = len(ids)
		ids = append(ids, needs.TransitiveDependencies(ids, graph.Reach{})...)
		ids = append(ids, g.TransitiveDependents(ids, graph.Reach{})...)
		slices.Sort(ids)
		ids = slices.Compact(ids)
	}
	return ids
}

// addReplaced adds what would have to be replaced if the given states were deleted: providers are asked, for all of the
// states at once, and for each in the order of its dependents (steps.md 6.7).
func (r *Run) addReplaced(ctx context.Context, all remains, ids []graph.ID, out map[urn.URN]bool) error {
	const decided = created | same | updated | deleted | replaced | read
	impossible := func(id graph.ID) bool { return r.outcomes.has(all.resources[id].URN, decided) }
	found := make([][]graph.ID, len(ids))
	p := pool.New().WithErrors().WithMaxGoroutines(readWorkers)
	for i, id := range ids {
		p.Go(func() (err error) {
			c := newRoot(Diffed{}, all.resources[id])
			found[i] = graph.ReplaceClosure(all.graph, id, closureKinds, impossible, func(dep graph.ID, _ func(graph.ID) bool) bool {
				res := all.resources[dep]
				in, _, ask := c.judge(dep, res)
				if ask != nil && err == nil {
					diff, failed := r.callProbe(ctx, ask)
					in, err = diff.Replaces(), failed
				}
				if in {
					c.set[res.URN] = true
				}
				return in
			})
			return err
		})
	}
	if err := p.Wait(); err != nil {
		return r.bail(Located{}, codeFailed, err)
	}
	for i, id := range ids {
		for _, dep := range found[i] {
			out[all.resources[dep].URN] = true
		}
		for _, res := range all.attached[all.resources[id].URN] {
			out[res.URN] = true
		}
	}
	return nil
}

// untargetedDeletes reports deletes that targets imply without naming them (steps.md 5.2).
func (r *Run) untargetedDeletes(all remains, steps map[graph.ID]*Step) error {
	if !r.Targeting.Targets.IsConstrained() || r.Targeting.TargetDependents {
		return nil
	}
	var found []urn.URN
	for i := range all.resources {
		s, ok := steps[graph.ID(i)]
		if !ok || s.Op == OpSame || r.Targeting.Targets.Matches(s.URN) {
			continue
		}
		found = append(found, s.URN)
		err := fmt.Errorf("Resource '%v' will be destroyed but was not specified in --target list.\n"+
			"Either include resource in --target list or pass --target-dependents to proceed.", s.URN)
		r.diagnose(s.URN, Error, codeUntargetedDelete, err.Error())
		r.failures.add(Failure{Seq: s.seq, URN: s.URN, Err: err})
	}
	if len(found) == 0 {
		return nil
	}
	slices.Sort(found)
	r.diagnose("", Info, 0, "to delete them too, add: "+targetFlags(slices.Compact(found)))
	if !r.DryRun() {
		r.Halt()
		return &bailError{errors.New("delete untargeted resource")}
	}
	return nil
}

// Refreshable returns the choice of base states that a refresh reads: the targets and, with TargetDependents, what depends
// on them; or all but the excludes (steps.md 7.1).
func (r *Run) Refreshable() func(*state.Resource) bool {
	sel := r.Targeting
	targets, excludes := sel.Targets.Clone(), sel.Excludes.Clone()
	return func(s *state.Resource) bool {
		switch {
		case sel.Targets.IsConstrained():
			if !targets.Matches(s.URN) && !(sel.TargetDependents && refersTo(s, targets, graph.Provider)) {
				return false
			}
			targets.Add(s.URN)
		case sel.Excludes.IsConstrained():
			if excludes.Matches(s.URN) || sel.ExcludeDependents && refersTo(s, excludes, graph.Provider) {
				excludes.Add(s.URN)
				return false
			}
		}
		return true
	}
}
