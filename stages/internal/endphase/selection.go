package endphase

import (
	"context"
	"slices"

	"github.com/sluice-iac/sluice/graph"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/internal/closure"
	"github.com/sluice-iac/sluice/stages/internal/rooms"
	"github.com/sluice-iac/sluice/urn"
	"github.com/sourcegraph/conc/pool"
)

// selected returns the names among all states that the end phase of an operation with targets or excludes may touch (steps.md 6.7); nil means all.
func selected(r *rooms.Rooms, all rooms.EndGraph) map[urn.URN]bool {
	sel, g := r.Targeting, all.Base.Graph
	dependents := func(ids []graph.ID) []graph.ID { return g.TransitiveDependents(ids, graph.Reach{}) }
	out := map[urn.URN]bool{}
	switch {
	case sel.Targets.IsConstrained():
		// What would have to be replaced with a target is among its dependents.
		for _, id := range closedUnder(all, matching(r, all, sel.Targets), dependents) {
			out[all.Base.Resources[id].URN] = true
		}
	case sel.Excludes.IsConstrained():
		left, needs := matching(r, all, sel.Excludes), all.Base.WithinComponents()
		if r.Mode == stages.ModeDestroy {
			left = append(left, renamed(r, all, sel.Excludes)...)
		}
		grow := func(ids []graph.ID) []graph.ID { return needs.TransitiveDependencies(ids, graph.Reach{}) }
		switch isNeeded := grow; {
		case sel.ExcludeDependents && r.Mode == stages.ModeUpdate:
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
		return nil
	}
	return out
}

// matching returns the states that a set names.
func matching(r *rooms.Rooms, all rooms.EndGraph, set *urn.PatternSet) (ids []graph.ID) {
	for i, res := range all.Base.Resources {
		// A state that is left out keeps its recorded name, and may have been selected by the program's name for it.
		if set.Matches(res.URN) || r.Names.IsKept(res.URN) && set.Matches(r.Names.NewNameOf(res.URN)) {
			ids = append(ids, graph.ID(i))
		}
	}
	return ids
}

// renamed returns the states whose recorded names match a set and which the program of a destroy has renamed. What a user excludes by the name that is
// recorded must not be destroyed (decision 0266).
func renamed(r *rooms.Rooms, all rooms.EndGraph, set *urn.PatternSet) (ids []graph.ID) {
	for i, res := range all.Base.Resources {
		if former := r.Names.FormerOf(res.URN); former != "" && set.Matches(former) {
			ids = append(ids, graph.ID(i))
		}
	}
	return ids
}

// probeTargets asks providers which dependents of the targets would have to be replaced if these were deleted, for all of them at once, and for each
// in the order of its dependents. The answers decide nothing, because all dependents are selected: not even an error does. But Pulumi asks, and what
// providers are asked is a part of compatibility.
func probeTargets(ctx context.Context, ph *Phase, all rooms.EndGraph) {
	ids := matching(ph.Rooms, all, ph.Rooms.Targeting.Targets)
	ids = append(ids, all.Base.Graph.TransitiveDependents(ids, graph.Reach{})...)
	impossible := func(id graph.ID) bool {
		u := all.Base.Resources[id].URN
		return ph.Rooms.Decisions.Has(u, rooms.Generated) || ph.Rooms.Names.IsKept(u) // a renamed resource that is left out is carried forward (steps.md 6.5)
	}
	p := pool.New().WithMaxGoroutines(ph.Access.ReadWorkers())
	for _, id := range ids {
		p.Go(func() {
			root := stages.Diffed{}
			root.Seq = stages.EndPhaseSeq // providers have the configuration that the program has given them
			c := closure.NewRoot(root, all.Base.Resources[id])
			graph.ReplaceClosure(all.Base.Graph, id, graph.NotParent, impossible, func(dep graph.ID, _ func(graph.ID) bool) bool {
				res := all.Base.Resources[dep]
				in, _, ask := c.NeedsReplace(dep, res, ph.Rooms.ReplaceDependsOn)
				if ask != nil {
					diff, err := ph.Prober.CallProbe(ctx, ask)
					in = err == nil && diff.Replaces()
				}
				if in {
					c.Set[res.URN] = true
				}
				return in
			})
		})
	}
	p.Wait()
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
