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
func (r *Run) refreshViews(s *taking, f found, record bool) (found, error) {
	var errs []error
	steps := s.publication.close()
	for _, v := range steps {
		errs = append(errs, r.refreshView(v, record))
	}
	if f.known && f.now == nil {
		for i, old := range r.viewsOf(s.Decision) {
			d := s.forView(OpDelete)
			d.Op, d.Old, d.URN, d.Type, d.Sub = OpRefresh, old, old.URN, old.Type, len(steps)+i+1
			r.record.begin(d)
			r.Emit(StepStarted{Step: d.StepInfo, Planning: r.DryRun(), At: r.Now()})
			errs = append(errs, r.refreshView(&taking{Decision: d}, record))
		}
	}
	f.views = compareViews(s.publication.olds, r.viewsOf(s.Decision))
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
func (r *Run) refreshView(s *taking, record bool) error {
	a := r.applyView(s)
	r.world.settle(a.change)
	if a.final != nil {
		s.made = a.final
		r.world.addView(a.final)
	}
	if record && r.Recorder != nil && !a.unrecorded {
		a.change.Add, a.change.Refresh = a.final, true
		if err := r.Recorder.End(r.operations, a.change); err != nil {
			return r.broken(s.Decision, fmt.Errorf("recording what became of %s: %w", s.URN, err))
		}
	}
	if a.err != nil {
		r.record.end(s.Decision, Outcome{Fate: FateFailed, Made: s.made})
		r.reportFailure(s.Decision, s.shown(), a)
		return a.err
	}
	info := s.shown()
	if r.Mode == ModeRefresh {
		info.Op = s.View.Op
		r.record.report(s.Decision)
	}
	r.record.end(s.Decision, Outcome{Fate: FateDone, Found: &info})
	r.Emit(StepDone{Step: info, Planning: r.DryRun(), At: r.Now()})
	return nil
}
