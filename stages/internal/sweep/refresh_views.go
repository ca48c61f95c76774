package sweep

import (
	"errors"
	"slices"

	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/internal/take"
	"github.com/sluice-iac/sluice/state"
)

// refreshedViews is what a refresh found out about the views of one resource.
type refreshedViews struct {
	changed map[*state.Resource]*state.Resource // recorded view -> what it is now; nil: gone
	added   []*state.Resource
}

// refreshViews takes the view steps that were published while a resource was read (steps.md 9.9). Unless record says so,
// they have no record of their own but change the base with it. The views of what is gone are gone too.
func (r *Reader) refreshViews(s *take.Taking, f found, record bool) (found, error) {
	var errs []error
	steps := s.Publication.Close()
	for _, v := range steps {
		errs = append(errs, r.refreshView(v, record))
	}
	if f.known && f.now == nil {
		for i, old := range r.Book.ViewsOf(s.Decision) {
			d := s.ForView(stages.OpDelete)
			d.Op, d.Old, d.URN, d.Type, d.Sub = stages.OpRefresh, old, old.URN, old.Type, len(steps)+i+1
			r.Taker.Begin(d)
			errs = append(errs, r.refreshView(&take.Taking{Decision: d}, record))
		}
	}
	f.views = compareViews(s.Publication.Olds, r.Book.ViewsOf(s.Decision))
	return f, errors.Join(errs...)
}

// compareViews tells by the names of views what has become of them.
func compareViews(before, after []*state.Resource) refreshedViews {
	if slices.Equal(before, after) {
		return refreshedViews{}
	}
	now := map[take.ViewName]*state.Resource{}
	for _, v := range after {
		now[take.NameOfView(v)] = v
	}
	out := refreshedViews{changed: map[*state.Resource]*state.Resource{}}
	for _, v := range before {
		out.changed[v] = now[take.NameOfView(v)]
		delete(now, take.NameOfView(v))
	}
	for _, v := range after {
		if now[take.NameOfView(v)] == v {
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

// refreshView takes one step.
func (r *Reader) refreshView(s *take.Taking, record bool) error {
	a := r.Taker.ApplyView(s)
	if a.Final != nil {
		s.Made = a.Final
		r.Taker.KeepView(a.Final)
	}
	a.Change.Add, a.Change.Refresh = a.Final, true
	if err := r.Taker.Change(s.Decision, a.Change, record && !a.Unrecorded); err != nil {
		return r.Control.Broken(s.Decision, err)
	}
	if a.Err != nil {
		r.Taker.EndFailed(s.Decision, s.Made, s.Shown(), a)
		return a.Err
	}
	info := s.Shown()
	if r.Book.Mode == stages.ModeRefresh {
		info.Op = s.View.Op
	}
	r.Taker.EndFound(s.Decision, info)
	return nil
}
