package stages

import (
	"context"
	"fmt"
	"slices"

	"github.com/sluice-iac/sluice/state"
)

// ResolveCreates settles creates that an earlier run began and whose end nobody knows (state.md 9.4 R-6). resolve says for
// each whether it is to be forgotten, or the ID of the object that it made, which is then read and recorded; what it says
// nothing about stays. An object that cannot be read fails the run, and its create stays as well.
func (r *Run) ResolveCreates(ctx context.Context, resolve func(state.Pending) (forget bool, id string)) error {
	var kept []state.Pending
	failed := false
	for i, op := range r.Base.Pending {
		if op.Type != state.Creating {
			kept = append(kept, op)
			continue
		}
		forget, id := resolve(op)
		if id != "" {
			forget = r.adopt(op, id, i)
			failed = failed || !forget
		}
		if !forget {
			kept = append(kept, op)
			continue
		}
		if r.Recorder != nil {
			if err := r.Recorder.End(ctx, state.Change{Begun: op.Resource}); err != nil {
				return fmt.Errorf("recording that the create of %s is settled: %w", op.Resource.URN, err)
			}
		}
	}
	snapshot := *r.Base
	snapshot.Pending = kept
	r.Base = &snapshot
	if failed {
		r.Halt()
		return &bailError{errRefreshFailed}
	}
	return nil
}

// adopt records an object that an interrupted create has made, and tells whether that is done. What it referred to and is
// gone by now is left out.
func (r *Run) adopt(op state.Pending, id string, place int) bool {
	if old := r.base.olds[op.Resource.URN]; old != nil && old.ID == id {
		return true
	}
	res := op.Resource.Clone()
	res.ImportID = id
	all := state.Rebuild(append(slices.Clone(r.base.resources), res), nil)
	s := &Step{StepInfo: StepInfo{
		Op: OpImport, URN: res.URN, Type: res.Type, New: all[len(all)-1], Provider: res.Provider, Reason: Reason{Kind: ReasonInterrupted},
	}, place: place}
	if err := r.isAdoptable(res); err != nil {
		r.reportFailure(s, failed(err))
		return false
	}
	r.decisions.note(s)
	if !r.enter() {
		return false
	}
	defer r.leave()
	if err := r.runStep(s); err != nil {
		return false
	}
	snapshot := *r.Base
	snapshot.Resources = append(slices.Clone(r.base.resources), s.New)
	r.Base, r.base = &snapshot, newBase(snapshot.Resources)
	return true
}

// isAdoptable refuses what has no object, and what is recorded under the name already.
func (r *Run) isAdoptable(res *state.Resource) error {
	if !res.Custom || res.Type.IsProvider() {
		return fmt.Errorf("%s has no ID that could be imported; clear its pending create instead", res.URN)
	}
	if old := r.base.olds[res.URN]; old != nil {
		return fmt.Errorf("%s is recorded already, with the ID %s, so that %s cannot be imported under its name; "+
			"clear the pending create and delete the object, or import it under another name", res.URN, old.ID, res.ImportID)
	}
	return nil
}
