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

// Recoverer finds out about what earlier runs began and did not end.
type Recoverer struct {
	*control.Control
	*book.Book
	Access    *access.Access
	Taker     *take.Taker
	Refresher *Refresher
}

// ResolveCreates resolves creates that an earlier run began and whose end nobody knows (state.md 9.4 R-6). resolve says what is
// to be done about each; nil, and what it says nothing about, leaves it. An object that cannot be read fails the run, and its
// create stays as well. It is called before the program starts, and after a refresh.
func (r *Recoverer) ResolveCreates(ctx context.Context, resolve func(state.Pending) stages.CreateResolution) error {
	var kept []state.Pending
	failed := false
	again := map[*state.Resource]bool{}
	for i, op := range r.Snapshot.Pending {
		if op.Type != state.Creating {
			kept = append(kept, op)
			continue
		}
		var is stages.CreateResolution
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
		if err := r.Taker.EndCreate(ctx, op.Resource); err != nil {
			return err
		}
	}
	if len(kept) < len(r.Snapshot.Pending) {
		snapshot := *r.Snapshot
		snapshot.Pending = kept
		r.Book.Open(&snapshot)
	}
	r.InterruptedCreates = book.NewInterruptions(kept, again, r.Base)
	if failed {
		r.Halt()
		return &stages.ReportedError{Err: errRefreshFailed}
	}
	return nil
}

// adopt records an object that an interrupted create has made, and reports whether that is done. What it referred to and is
// gone by now is left out. It takes the place of what a replacement had deleted before.
func (r *Recoverer) adopt(op state.Pending, id string, place int) bool {
	old := r.Base.Olds[op.Resource.URN]
	if old != nil && old.ID == id && !old.PendingReplacement {
		return true
	}
	res := op.Resource.Clone()
	res.ImportID = id
	all, at := slices.Clone(r.Base.Resources), len(r.Base.Resources)
	if old != nil {
		at = int(r.Base.Ids[old])
		all[at] = res
	} else {
		all = append(all, res)
	}
	all = state.Rebuild(all, nil)
	s := &stages.Decision{StepInfo: stages.StepInfo{
		Op: stages.OpImport, URN: res.URN, Type: res.Type, New: all[at], Provider: res.Provider, Reason: stages.Reason{Kind: stages.ReasonInterrupted},
	}, Rank: stages.Rank{Place: place}, Displaced: old}
	if err := r.isAdoptable(res); err != nil {
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
	snapshot := *r.Snapshot
	all[at] = r.Record.OutcomeOf(s).Made
	snapshot.Resources = all
	r.Book.Open(&snapshot)
	return true
}

// isAdoptable refuses what has no object, and what is recorded under the name already.
func (r *Recoverer) isAdoptable(res *state.Resource) error {
	if book.HasNoObject(res) {
		return fmt.Errorf("%s has no ID that could be imported; clear its pending create instead", res.URN)
	}
	if old := r.Base.Olds[res.URN]; old != nil && !old.PendingReplacement {
		return fmt.Errorf("%s is recorded already, with the ID %s, so that %s cannot be imported under its name; "+
			"clear the pending create and delete the object, or import it under another name", res.URN, old.ID, res.ImportID)
	}
	return nil
}
