package sweep

import (
	"context"
	"fmt"
	"slices"

	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/internal/access"
	"github.com/sluice-iac/sluice/stages/internal/book"
	"github.com/sluice-iac/sluice/stages/internal/control"
	"github.com/sluice-iac/sluice/stages/internal/take"
	"github.com/sluice-iac/sluice/state"
)

// Recoverer finds out about creates that earlier runs began and did not end, before the program starts.
type Recoverer struct {
	*control.Control
	*book.Book // of what is recorded, not of the run, whose base is what the recoverer returns
	Access     *access.Access
	Taker      *take.Taker
	Recorded   *state.Snapshot
}

// ResolveCreates resolves creates that an earlier run began and whose end nobody knows (state.md 9.4 R-6). resolve says what is
// to be done about each; what it says nothing about stays pending. It returns the state with what was adopted, and the pending
// resources that may be created again; also with an error. An object that cannot be read fails the run, and its create stays
// as well.
func (r *Recoverer) ResolveCreates(ctx context.Context, resolve func(state.Pending) stages.CreateResolution) (now *state.Snapshot, again map[*state.Resource]bool, err error) {
	snapshot := *r.Recorded
	snapshot.Pending = nil
	now, again = &snapshot, map[*state.Resource]bool{}
	failed := false
	for i, op := range r.Recorded.Pending {
		if err != nil || op.Type != state.Creating {
			now.Pending = append(now.Pending, op)
			continue
		}
		is := resolve(op)
		if is.ID != "" {
			is.Clear = r.adopt(now, op, is.ID, i)
			failed = failed || !is.Clear
		}
		if is.Clear {
			err = r.Taker.EndCreate(ctx, op.Resource)
			continue
		}
		now.Pending = append(now.Pending, op)
		again[op.Resource] = is.Again
	}
	if failed && err == nil {
		r.Halt()
		err = &stages.ReportedError{Err: errRefreshFailed}
	}
	return now, again, err
}

// adopt adds an object that an interrupted create has made to what is recorded, and reports whether that is done. What it
// referred to and is gone by now is left out. It takes the place of what a replacement had deleted before.
func (r *Recoverer) adopt(now *state.Snapshot, op state.Pending, id string, place int) bool {
	at := slices.IndexFunc(now.Resources, func(res *state.Resource) bool { return res.URN == op.Resource.URN && !res.Delete })
	var old *state.Resource
	if at >= 0 {
		old = now.Resources[at]
	}
	if old != nil && old.ID == id && !old.PendingReplacement {
		return true
	}
	res := op.Resource.Clone()
	res.ImportID = id
	all := slices.Clone(now.Resources)
	if old != nil {
		all[at] = res
	} else {
		all, at = append(all, res), len(all)
	}
	all = state.Rebuild(all, nil)
	s := &stages.Decision{StepInfo: stages.StepInfo{
		Op: stages.OpImport, URN: res.URN, Type: res.Type, New: all[at], Provider: res.Provider, Reason: stages.Reason{Kind: stages.ReasonInterrupted},
	}, Rank: stages.Rank{Place: place}, Superseded: old}
	if err := isAdoptable(res, old); err != nil {
		r.Taker.ReportFailure(s, s.StepInfo, take.Failed(err))
		return false
	}
	r.Record.Note(s)
	if !r.Enter() {
		return false
	}
	defer r.Leave()
	if _, err := r.Taker.RunStep(s, nil); err != nil {
		return false
	}
	all[at] = r.Record.OutcomeOf(s).Made
	now.Resources = all
	return true
}

// isAdoptable refuses what has no object, and what is recorded under the name already.
func isAdoptable(res, old *state.Resource) error {
	if book.HasNoObject(res) {
		return fmt.Errorf("%s has no ID that could be imported; clear its pending create instead", res.URN)
	}
	if old != nil && !old.PendingReplacement {
		return fmt.Errorf("%s is recorded already, with the ID %s, so that %s cannot be imported under its name; "+
			"clear the pending create and delete the object, or import it under another name", res.URN, old.ID, res.ImportID)
	}
	return nil
}
