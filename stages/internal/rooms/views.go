package rooms

import (
	"slices"

	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// ViewsOf returns the views that the resource of a step has before the step, those of an old copy for that old copy.
func (rooms *Rooms) ViewsOf(owner *stages.Decision) []*state.Resource {
	if owner.Old == nil {
		return rooms.Results.ViewsOf(owner.URN)
	}
	all := rooms.Results.ViewsOf(owner.URN)
	if owner.Old.URN != owner.URN {
		all = append(rooms.Results.ViewsOf(owner.Old.URN), all...)
	}
	return slices.DeleteFunc(all, func(v *state.Resource) bool {
		return v.Delete != owner.Old.Delete || v.Delete && rooms.Results.isOfAnother(v, owner.Old)
	})
}

// liveViewsOf returns the views of a recorded state that no replacement has marked.
func (rooms *Rooms) liveViewsOf(owner *state.Resource) []*state.Resource {
	return slices.DeleteFunc(rooms.Results.ViewsOf(owner.URN), func(v *state.Resource) bool { return v.Delete })
}

// ViewsOf returns the views that are recorded for a resource, those of its old copies among them.
func (r *Results) ViewsOf(u urn.URN) []*state.Resource {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []*state.Resource
	for _, v := range r.views[u] {
		if now := r.follow(v); now != nil {
			out = append(out, now)
		}
	}
	return out
}

// addViews adds the views of a base. Their states name their resource by URN alone. If it has several copies, a view belongs to the
// copy before and next to it. Any other choice would do as well, if only each view belongs to one copy.
func (w *ResultsWriter) addViews(base []*state.Resource) {
	r := w.results
	r.mu.Lock()
	defer r.mu.Unlock()
	type copies struct {
		of  urn.URN
		old bool
	}
	last := map[copies]*state.Resource{}
	for _, res := range base {
		if res.ViewOf != "" {
			r.views[res.ViewOf] = append(r.views[res.ViewOf], res)
			r.copies[res] = last[copies{res.ViewOf, res.Delete}]
		}
		last[copies{res.URN, res.Delete}] = res
	}
}

// isOfAnother reports whether a view is one of another copy of its resource, and that one still exists.
func (r *Results) isOfAnother(v, owner *state.Resource) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	of := r.follow(r.copies[v])
	return of != nil && of != owner
}
