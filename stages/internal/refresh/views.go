package refresh

import (
	"slices"

	"github.com/sluice-iac/sluice/stages/internal/step"
	"github.com/sluice-iac/sluice/state"
)

// refreshedViews is the result of a refresh for the views of one resource.
type refreshedViews struct {
	changed map[*state.Resource]*state.Resource // recorded view -> its state now; nil: gone
	added   []*state.Resource
}

// compareViews compares views by their names.
func compareViews(before, after []*state.Resource) refreshedViews {
	if slices.Equal(before, after) {
		return refreshedViews{}
	}
	now := map[step.ViewName]*state.Resource{}
	for _, v := range after {
		now[step.NameOfView(v)] = v
	}
	out := refreshedViews{changed: map[*state.Resource]*state.Resource{}}
	for _, v := range before {
		out.changed[v] = now[step.NameOfView(v)]
		delete(now, step.NameOfView(v))
	}
	for _, v := range after {
		if now[step.NameOfView(v)] == v {
			out.added = append(out.added, v)
		}
	}
	return out
}

// withViews puts new views right after the recorded states that they belong to.
func withViews(base []*state.Resource, added map[*state.Resource][]*state.Resource) []*state.Resource {
	if len(added) == 0 {
		return base
	}
	out := make([]*state.Resource, 0, len(base)+len(added))
	for _, res := range base {
		out = append(append(out, res), added[res]...)
	}
	return out
}
