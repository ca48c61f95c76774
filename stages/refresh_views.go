package stages

import (
	"errors"
	"fmt"
	"slices"

	"github.com/sluice-iac/sluice/state"
)

// refreshedViews is what a refresh found out about the views of one resource.
type refreshedViews struct {
	changed map[*state.Resource]*state.Resource // recorded view -> what it is now; nil: gone
	added   []*state.Resource
}

// refreshViews takes the view steps that were published while a resource was read (steps.md 9.9). Unless record says so,
// they have no record of their own but change the base with it. The views of what is gone are gone too.
func (r *Run) refreshViews(s *Step, f found, record bool) (found, error) {
	var errs []error
	steps := s.publication.close()
	for _, v := range steps {
		errs = append(errs, r.refreshView(v, record))
	}
	if f.known && f.now == nil {
		for i, old := range r.viewsOf(s) {
			v := s.forView(OpDelete)
			v.Op, v.Old, v.URN, v.Type, v.sub = OpRefresh, old, old.URN, old.Type, len(steps)+i+1
			r.Emit(StepStarted{Step: v.StepInfo, Planning: r.DryRun(), At: r.Now()})
			errs = append(errs, r.refreshView(v, record))
		}
	}
	f.views = compareViews(s.publication.olds, r.viewsOf(s))
	return f, errors.Join(errs...)
}

// compareViews tells by the names of views what has become of them.
func compareViews(before, after []*state.Resource) refreshedViews {
	if slices.Equal(before, after) {
		return refreshedViews{}
	}
	now := map[viewName]*state.Resource{}
	for _, v := range after {
		now[nameOfView(v)] = v
	}
	out := refreshedViews{changed: map[*state.Resource]*state.Resource{}}
	for _, v := range before {
		out.changed[v] = now[nameOfView(v)]
		delete(now, nameOfView(v))
	}
	for _, v := range after {
		if now[nameOfView(v)] == v {
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
func (r *Run) refreshView(s *Step, record bool) error {
	a := r.applyView(s)
	r.world.settle(a.change)
	if a.final != nil {
		s.New = a.final
		r.world.addView(a.final)
	}
	if record && r.Recorder != nil && !a.unrecorded {
		a.change.Add, a.change.Refresh = a.final, true
		if err := r.Recorder.End(r.operations, a.change); err != nil {
			return r.broken(s, fmt.Errorf("recording what became of %s: %w", s.URN, err))
		}
	}
	if a.err != nil {
		r.reportFailure(s, a)
		return a.err
	}
	if r.Mode == ModeRefresh {
		s.Op = s.view.op
		r.world.addStep(s)
	}
	r.Emit(StepDone{Step: s.StepInfo, Planning: r.DryRun(), At: r.Now()})
	return nil
}
