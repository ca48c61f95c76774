package endphase

import (
	"context"
	"slices"

	"github.com/sluice-iac/sluice/graph"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/internal/access"
	"github.com/sluice-iac/sluice/stages/internal/closure"
	"github.com/sluice-iac/sluice/stages/internal/control"
	"github.com/sluice-iac/sluice/stages/internal/rooms"
	"github.com/sluice-iac/sluice/urn"
	"github.com/sourcegraph/conc/pool"
)

// selector chooses the names that the end phase of an operation with targets or excludes may touch.
type selector struct {
	control *control.Control
	rooms   *rooms.Rooms
	access  *access.Access
	prober  *closure.Prober
}

// selected returns the names among all states that the end phase may touch (steps.md 6.7); nil means all.
func (sl *selector) selected(ctx context.Context, all rooms.EndGraph) (map[urn.URN]bool, error) {
	sel, g := sl.rooms.Targeting, all.Base.Graph
	matching := func(set *urn.PatternSet) []graph.ID {
		var ids []graph.ID
		for i, res := range all.Base.Resources {
			// A state that is left out keeps its recorded name, and may have been selected by the program's name for it.
			if set.Matches(res.URN) || sl.rooms.Names.IsKept(res.URN) && set.Matches(sl.rooms.Names.NewNameOf(res.URN)) {
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
			out[all.Base.Resources[id].URN] = true
		}
		if err := sl.addReplaced(ctx, all, ids, out); err != nil {
			return nil, err
		}
		// The dependents of those cannot stay either.
		for _, id := range closedUnder(all, all.Named(out), dependents) {
			out[all.Base.Resources[id].URN] = true
		}
	case sel.Excludes.IsConstrained():
		left, needs := matching(sel.Excludes), all.Base.WithinComponents()
		if sl.rooms.Mode == stages.ModeDestroy {
			left = append(left, sl.renamed(all, sel.Excludes)...)
		}
		grow := func(ids []graph.ID) []graph.ID { return needs.TransitiveDependencies(ids, graph.Reach{}) }
		switch isNeeded := grow; {
		case sel.ExcludeDependents && sl.rooms.Mode == stages.ModeUpdate:
			// If an update excludes dependents, the dependencies and the dependents of every excluded state are excluded, too
			// (decision 0029).
			grow = func(ids []graph.ID) []graph.ID { return append(isNeeded(ids), dependents(ids)...) }
		case sel.ExcludeDependents:
			left = append(left, dependents(left)...)
		}
		left = closedUnder(all, left, grow)
		for _, res := range all.Base.Resources {
			out[res.URN] = true
		}
		for _, id := range left {
			delete(out, all.Base.Resources[id].URN)
		}
	default:
		return nil, nil
	}
	return out, nil
}

// renamed returns the states whose recorded names match a set and which the program of a destroy has renamed. What a user excludes by the name that is
// recorded must not be destroyed (decision 0266).
func (sl *selector) renamed(all rooms.EndGraph, set *urn.PatternSet) (ids []graph.ID) {
	for i, res := range all.Base.Resources {
		if former := sl.rooms.Names.FormerOf(res.URN); former != "" && set.Matches(former) {
			ids = append(ids, graph.ID(i))
		}
	}
	return ids
}

// addReplaced adds the resources that would have to be replaced if the given states were deleted. It calls providers, for all of
// the states at once, and for each in the order of its dependents (steps.md 6.7).
func (sl *selector) addReplaced(ctx context.Context, all rooms.EndGraph, ids []graph.ID, out map[urn.URN]bool) error {
	impossible := func(id graph.ID) bool {
		u := all.Base.Resources[id].URN
		return sl.rooms.Decisions.Has(u, rooms.Generated) || sl.rooms.Names.IsKept(u) // a renamed resource that is left out is carried forward (steps.md 6.5)
	}
	found := make([][]graph.ID, len(ids))
	p := pool.New().WithErrors().WithMaxGoroutines(sl.access.ReadWorkers())
	for i, id := range ids {
		p.Go(func() (err error) {
			root := stages.Diffed{}
			root.Seq = stages.EndPhaseSeq // providers have the configuration that the program has given them
			c := closure.NewRoot(root, all.Base.Resources[id])
			found[i] = graph.ReplaceClosure(all.Base.Graph, id, graph.NotParent, impossible, func(dep graph.ID, _ func(graph.ID) bool) bool {
				res := all.Base.Resources[dep]
				in, _, ask := c.NeedsReplace(dep, res, sl.rooms.ReplaceDependsOn)
				if ask != nil && err == nil {
					diff, failed := sl.prober.CallProbe(ctx, ask)
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
		return sl.control.Bail(stages.Located{}, stages.CodeFailed, err)
	}
	for _, deps := range found {
		for _, dep := range deps {
			out[all.Base.Resources[dep].URN] = true
		}
	}
	return nil
}

// closedUnder adds the results of grow, and all copies of the added states, until nothing is missing: states are chosen by name,
// and the copies of a name may refer to different resources.
func closedUnder(all rooms.EndGraph, ids []graph.ID, grow func([]graph.ID) []graph.ID) []graph.ID {
	unique := func(ids []graph.ID) []graph.ID { slices.Sort(ids); return slices.Compact(ids) }
	ids = unique(slices.Clone(ids))
	for before := -1; len(ids) > before; {
		before = len(ids)
		ids = append(ids, grow(ids)...)
		names := map[urn.URN]bool{}
		for _, id := range ids {
			names[all.Base.Resources[id].URN] = true
		}
		ids = unique(append(ids, all.Named(names)...))
	}
	return ids
}
