package stages

import (
	"context"
	"fmt"
	"slices"

	"github.com/sluice-iac/sluice/state"
)

// CreateResolution says what is to be done about a create that an earlier operation began and whose end nobody knows. The
// zero value leaves it: it stays listed, and the resource is not created again ([InterruptedCreateError]).
type CreateResolution struct {
	// Clear forgets it: nothing has been made.
	Clear bool
	// ID is that of the object that was made. It is read and recorded as the resource. If it cannot be read, the operation
	// fails and the create stays listed.
	ID string
	// Again lets the resource be created once more, whatever this create has made. It is forgotten once the resource is
	// recorded, and stays listed until then.
	Again bool
}

// ResolveCreates settles creates that an earlier run began and whose end nobody knows (state.md 9.4 R-6). resolve says what is
// to be done about each; nil, and what it says nothing about, leaves it. An object that cannot be read fails the run, and its
// create stays as well. It must be called before the program starts, and after a refresh.
func (r *Run) ResolveCreates(ctx context.Context, resolve func(state.Pending) CreateResolution) error {
	var kept []state.Pending
	failed := false
	again := map[*state.Resource]bool{}
	for i, op := range r.Base.Pending {
		if op.Type != state.Creating {
			kept = append(kept, op)
			continue
		}
		var is CreateResolution
		if resolve != nil {
			is = resolve(op)
		}
		if is.ID != "" {
			is.Clear = r.adopt(op, is.ID, i)
			failed = failed || !is.Clear
		}
		if !is.Clear {
			kept = append(kept, op)
			again[op.Resource] = is.Again
			continue
		}
		if err := r.endCreate(ctx, op.Resource); err != nil {
			return err
		}
	}
	if len(kept) < len(r.Base.Pending) {
		snapshot := *r.Base
		snapshot.Pending = kept
		r.Base = &snapshot
	}
	r.interruptions = newInterruptions(kept, again, r.base)
	if failed {
		r.Halt()
		return &bailError{errRefreshFailed}
	}
	return nil
}

// endCreate records that a create of an earlier run is settled.
func (r *Run) endCreate(ctx context.Context, begun *state.Resource) error {
	if r.Recorder == nil {
		return nil
	}
	if err := r.Recorder.End(ctx, state.Change{Begun: begun}); err != nil {
		return fmt.Errorf("recording that the create of %s is settled: %w", begun.URN, err)
	}
	return nil
}

// adopt records an object that an interrupted create has made, and tells whether that is done. What it referred to and is
// gone by now is left out. It takes the place of what a replacement had deleted before.
func (r *Run) adopt(op state.Pending, id string, place int) bool {
	old := r.base.olds[op.Resource.URN]
	if old != nil && old.ID == id && !old.PendingReplacement {
		return true
	}
	res := op.Resource.Clone()
	res.ImportID = id
	all, at := slices.Clone(r.base.resources), len(r.base.resources)
	if old != nil {
		at = int(r.base.ids[old])
		all[at] = res
	} else {
		all = append(all, res)
	}
	all = state.Rebuild(all, nil)
	s := &Decision{StepInfo: StepInfo{
		Op: OpImport, URN: res.URN, Type: res.Type, New: all[at], Provider: res.Provider, Reason: Reason{Kind: ReasonInterrupted},
	}, Rank: Rank{Place: place}, Displaced: old}
	if err := r.isAdoptable(res); err != nil {
		r.reportFailure(s, s.StepInfo, failed(err))
		return false
	}
	r.record.note(s)
	if !r.enter() {
		return false
	}
	defer r.leave()
	if _, err := r.runStep(s, nil); err != nil {
		return false
	}
	snapshot := *r.Base
	all[at] = r.record.outcomeOf(s).Made
	snapshot.Resources = all
	r.Base, r.base = &snapshot, newBase(all)
	return true
}

// isAdoptable refuses what has no object, and what is recorded under the name already.
func (r *Run) isAdoptable(res *state.Resource) error {
	if isMoot(res) {
		return fmt.Errorf("%s has no ID that could be imported; clear its pending create instead", res.URN)
	}
	if old := r.base.olds[res.URN]; old != nil && !old.PendingReplacement {
		return fmt.Errorf("%s is recorded already, with the ID %s, so that %s cannot be imported under its name; "+
			"clear the pending create and delete the object, or import it under another name", res.URN, old.ID, res.ImportID)
	}
	return nil
}
