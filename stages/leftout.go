package stages

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sluice-iac/sluice/graph"
	"github.com/sluice-iac/sluice/pipeline"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// leaveOut decides about a registration that is not part of the operation.
func (b *builder) leaveOut(d Diffed, x pipeline.Exchange[Ask, Built]) error {
	o := b.run.outcomes
	if d.Old == nil {
		s := b.same(d)
		o.leaveUncreated(s.New)
		s.Kind, s.Reason = Uncreated, Reason{Kind: ReasonNotTargeted}
		return b.commit(d, []*Decision{s}, x)
	}
	if err := b.providerIsThere(d); err != nil {
		return err
	}
	steps, err := b.carryReferences(d.Old, d.Located)
	if err != nil {
		return err
	}
	own := carriedStep(d.Old)
	own.Answers = true
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
func carriedStep(res *state.Resource) *Decision {
	return &Decision{StepInfo: StepInfo{
		Op: OpSame, URN: res.URN, Type: res.Type, Old: res, New: res, Provider: res.Provider, Internal: res.URN.IsDefaultProvider(),
		Reason: Reason{Kind: ReasonNotTargeted},
	}, Kind: Kept}
}

// carryReferences leaves as it is recorded what a state refers to and nothing has been decided about, depth first (steps.md
// 6.5). What is missing from the recorded state is an error only for a state that is left as it is. When everything is part
// of the operation, the state is a provider that is kept, and what it refers to is kept for it.
func (b *builder) carryReferences(res *state.Resource, l Located) (steps []*Decision, err error) {
	var olds []*state.Resource
	why := Reason{Kind: ReasonNotTargeted}
	whole := !b.run.Targeting.isPartial()
	if whole {
		why = Reason{Kind: ReasonCarried, Cause: res.URN}
	}
	references(res, func(u urn.URN, kind graph.Kind) {
		old := b.run.base.olds[u]
		if whole && old != nil {
			b.run.record.use(old, res.URN)
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
		carried.Kind, carried.Reason = Provisional, why
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
func (r *Run) uncreated(l Located, steps []*Decision) error {
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
func (r *Run) missingFrom(s *Decision) urn.URN {
	if s.Kind == Uncreated || s.New == nil {
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
