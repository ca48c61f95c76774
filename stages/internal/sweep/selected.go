package sweep

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/sourcegraph/conc/pool"

	"github.com/sluice-iac/sluice/advice"
	"github.com/sluice-iac/sluice/graph"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/internal/book"
	"github.com/sluice-iac/sluice/stages/internal/closure"
	"github.com/sluice-iac/sluice/urn"
)

// selected returns the names of what the end phase may touch among all that there is (steps.md 6.7); nil means all.
func (sw *Sweeper) selected(ctx context.Context, all book.EndGraph) (map[urn.URN]bool, error) {
	sel, g := sw.Book.Targeting, all.Graph
	matching := func(set *urn.PatternSet) []graph.ID {
		var ids []graph.ID
		for i, res := range all.Resources {
			// What is left out keeps its recorded name, and may have been named as the program does.
			if set.Matches(res.URN) || sw.Book.Names.IsKept(res.URN) && set.Matches(sw.Book.Names.NewNameOf(res.URN)) {
				ids = append(ids, graph.ID(i))
			}
		}
		return ids
	}
	dependents := func(ids []graph.ID) []graph.ID { return g.TransitiveDependents(ids, graph.Reach{}) }
	out := map[urn.URN]bool{}
	switch {
	case sel.Targets.IsConstrained():
		ids := matching(sel.Targets)
		ids = append(ids, dependents(ids)...)
		for _, id := range ids {
			out[all.Resources[id].URN] = true
		}
		if err := sw.addReplaced(ctx, all, ids, out); err != nil {
			return nil, err
		}
		// What refers to those cannot stay either.
		for _, id := range closedUnder(all, all.Named(out), dependents) {
			out[all.Resources[id].URN] = true
		}
	case sel.Excludes.IsConstrained():
		left, needs := matching(sel.Excludes), all.WithinComponents()
		grow := func(ids []graph.ID) []graph.ID { return needs.TransitiveDependencies(ids, graph.Reach{}) }
		switch isNeeded := grow; {
		case sel.ExcludeDependents && sw.Book.Mode == stages.ModeUpdate:
			// An update that leaves dependents out deletes nothing that depends on what they need, and so on (decision 0029).
			grow = func(ids []graph.ID) []graph.ID { return append(isNeeded(ids), dependents(ids)...) }
		case sel.ExcludeDependents:
			left = append(left, dependents(left)...)
		}
		left = closedUnder(all, left, grow)
		for _, res := range all.Resources {
			out[res.URN] = true
		}
		for _, id := range left {
			delete(out, all.Resources[id].URN)
		}
	default:
		return nil, nil
	}
	return out, nil
}

// closedUnder adds what grow returns, and all copies of what has been added, until nothing is missing: what is chosen is chosen
// by name, and the copies of a name may refer to different resources.
func closedUnder(all book.EndGraph, ids []graph.ID, grow func([]graph.ID) []graph.ID) []graph.ID {
	unique := func(ids []graph.ID) []graph.ID { slices.Sort(ids); return slices.Compact(ids) }
	ids = unique(slices.Clone(ids))
	for before := -1; len(ids) > before; {
		before = len(ids)
		ids = append(ids, grow(ids)...)
		names := map[urn.URN]bool{}
		for _, id := range ids {
			names[all.Resources[id].URN] = true
		}
		ids = unique(append(ids, all.Named(names)...))
	}
	return ids
}

// addReplaced adds what would have to be replaced if the given states were deleted: providers are asked, for all of the
// states at once, and for each in the order of its dependents (steps.md 6.7).
func (sw *Sweeper) addReplaced(ctx context.Context, all book.EndGraph, ids []graph.ID, out map[urn.URN]bool) error {
	const decided = book.Created | book.Same | book.Updated | book.Deleted | book.Replaced | book.Read
	impossible := func(id graph.ID) bool { return sw.Book.Decisions.Has(all.Resources[id].URN, decided) }
	found := make([][]graph.ID, len(ids))
	p := pool.New().WithErrors().WithMaxGoroutines(sw.Access.ReadWorkers())
	for i, id := range ids {
		p.Go(func() (err error) {
			c := closure.NewRoot(stages.Diffed{}, all.Resources[id])
			found[i] = graph.ReplaceClosure(all.Graph, id, book.ClosureKinds, impossible, func(dep graph.ID, _ func(graph.ID) bool) bool {
				res := all.Resources[dep]
				in, _, ask := c.NeedsReplace(dep, res)
				if ask != nil && err == nil {
					diff, failed := sw.Prober.CallProbe(ctx, ask)
					in, err = diff.Replaces(), failed
				}
				if in {
					c.Set[res.URN] = true
				}
				return in
			})
			return err
		})
	}
	if err := p.Wait(); err != nil {
		return sw.Control.Bail(stages.Located{}, stages.CodeFailed, err)
	}
	for _, deps := range found {
		for _, dep := range deps {
			out[all.Resources[dep].URN] = true
		}
	}
	return nil
}

// untargetedDeletes reports deletes that targets imply without naming them (steps.md 5.2).
func (sw *Sweeper) untargetedDeletes(all book.EndGraph, steps map[graph.ID]*stages.Decision) error {
	if !sw.Book.Targeting.Targets.IsConstrained() || sw.Book.Targeting.TargetDependents {
		return nil
	}
	var found []urn.URN
	for i := range all.Resources {
		s, ok := steps[graph.ID(i)]
		if !ok || s.Op == stages.OpSame || sw.Book.Targeting.Targets.Matches(s.URN) {
			continue
		}
		found = append(found, s.URN)
		err := fmt.Errorf("Resource '%v' will be destroyed but was not specified in --target list.\n"+
			"Either include resource in --target list or pass --target-dependents to proceed.", s.URN)
		sw.Control.Fail(s.Seq, s.URN, stages.CodeUntargetedDelete, err)
	}
	if len(found) == 0 {
		return nil
	}
	slices.Sort(found)
	found = slices.Compact(found)
	sw.Control.Diagnose("", stages.Info, 0, "Resources that are not targets would have to be deleted.",
		advice.On(advice.TargetDeleted, found...))
	if !sw.Control.DryRun() {
		sw.Control.Halt()
		return &stages.ReportedError{Err: errors.New("delete untargeted resource")}
	}
	return nil
}
