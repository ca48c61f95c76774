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
	"github.com/sluice-iac/sluice/urn"
)

// Recoverer finds out about creates that earlier runs began and did not end, before the program starts.
type Recoverer struct {
	Control  *control.Control
	Book     *book.Book // of what is recorded, not of the run, whose base is what the recoverer returns
	Access   *access.Access
	Taker    *take.Taker
	Recorded *state.Snapshot
}

// Answer says what is to be done about an interrupted create, and why.
type Answer struct {
	stages.CreateResolution
	Why string
}

// Resolved is what the resolution of interrupted creates has come to.
type Resolved struct {
	*state.Snapshot                          // what is recorded now
	Again           map[*state.Resource]bool // the pending resources that may be created again
	Creates         []stages.Resolution      // one for each create
}

// ResolveCreates resolves creates that an earlier run began and whose outcome is not known (state.md 9.4 R-6). resolve says what is
// to be done about each; what it says nothing about stays pending. An object that cannot be read fails the run, and its create
// stays as well. What has been resolved is returned also with an error.
func (r *Recoverer) ResolveCreates(ctx context.Context, resolve func(state.Pending) Answer) (out Resolved, err error) {
	snapshot := *r.Recorded
	snapshot.Pending = nil
	out = Resolved{Snapshot: &snapshot, Again: map[*state.Resource]bool{}}
	failed := false
	var made []*state.Resource
	for i, op := range r.Recorded.Pending {
		if err != nil || !op.IsInterruptedCreate() {
			snapshot.Pending = append(snapshot.Pending, op)
			continue
		}
		answer := resolve(op)
		is := stages.Resolution{Pending: op, Outcome: stages.Unresolved, Why: answer.Why}
		switch {
		case answer.ID != "":
			var res *state.Resource
			is, res = r.adopt(is, answer.ID, i, made)
			failed = failed || is.Outcome == stages.Unresolved
			if res != nil {
				made = append(made, res)
			}
		case answer.Clear:
			is.Outcome = stages.NotCreated
		}
		out.Creates = append(out.Creates, is)
		if is.Outcome != stages.Unresolved {
			err = r.Taker.EndCreate(ctx, op.Resource)
			continue
		}
		snapshot.Pending = append(snapshot.Pending, op)
		out.Again[op.Resource] = answer.Again
	}
	if len(made) > 0 && err == nil {
		err = r.rebase(ctx, &snapshot, made)
	}
	if failed && err == nil {
		r.Control.Halt()
		err = &stages.ReportedError{Err: errRefreshFailed}
	}
	return out, err
}

// adopt records the object that an interrupted create has made. It returns how the create is resolved by that, and what is
// recorded now, nil if that is nothing new. made is what was adopted before. What the object referred to and is gone by now is
// left out. It takes the place of what a replacement had deleted before, or was to delete afterwards: that is marked, and the
// next update deletes it.
func (r *Recoverer) adopt(is stages.Resolution, id string, place int, made []*state.Resource) (stages.Resolution, *state.Resource) {
	recorded := r.present(made)
	old := continued(recorded, is.Resource)
	if isRecordedSince(is.Pending, old, id) {
		is.Outcome, is.ID, is.Why = stages.Adopted, id, "the object is recorded already"
		return is, nil
	}
	res := is.Resource.Clone()
	res.ImportID = id
	all := state.Rebuild(append(recorded, res), nil)
	s := &stages.Decision{StepInfo: stages.StepInfo{
		Op: stages.OpImport, URN: res.URN, Type: res.Type, New: all[len(all)-1], Provider: res.Provider, Reason: stages.Reason{Kind: stages.ReasonInterrupted},
	}, Rank: stages.Rank{Place: place}, Superseded: old}
	if err := isAdoptable(is.Pending, old, id, recorded); err != nil {
		r.Taker.ReportFailure(s, s.StepInfo, take.Failed(err))
		is.Why = err.Error()
		return is, nil
	}
	r.Taker.Expect(s)
	if !r.Control.Enter() {
		is.Why = "the operation was stopped before"
		return is, nil
	}
	defer r.Control.Leave(nil)
	if _, err := r.Taker.RunStep(s); err != nil {
		is.Why = err.Error()
		return is, nil
	}
	now := r.Book.Outcomes.Of(s).Made
	is.Outcome, is.ID = stages.Adopted, now.ID
	if old != nil && !old.PendingReplacement {
		is.Replaced = old.ID
	}
	return is, now
}

// present returns what has become of what was recorded, then what is new.
func (r *Recoverer) present(made []*state.Resource) []*state.Resource {
	var all []*state.Resource
	for _, res := range append(slices.Clone(r.Recorded.Resources), made...) {
		all = append(all, r.Book.Present(res)...)
	}
	return all
}

// rebase makes what is recorded by now the base: in the order and with the names with which it is written.
func (r *Recoverer) rebase(ctx context.Context, now *state.Snapshot, made []*state.Resource) error {
	ledger := state.NewLedger(r.Recorded, state.LedgerOptions{Now: r.Control.Now})
	for _, res := range r.Recorded.Resources {
		change := state.Change{Remove: []*state.Resource{res}}
		switch is := r.Book.Results.Current(res); is {
		case res:
			continue
		case nil:
		default:
			change = state.Change{Replace: []state.Replacement{{Old: res, New: is}}}
		}
		if err := ledger.End(change); err != nil {
			return err
		}
	}
	for _, res := range made {
		for _, is := range r.Book.Present(res) {
			if err := ledger.End(state.Change{Add: is, Extension: r.Access.Extensions.Recorded(is.ExtensionRef)}); err != nil {
				return err
			}
		}
	}
	written, err := ledger.Snapshot()
	if err != nil {
		return err
	}
	now.Resources, now.Extensions = written.Resources, written.Extensions
	if r.Taker.Recorder == nil {
		return nil
	}
	if err := r.Taker.Recorder.Rebase(ctx, now); err != nil {
		return fmt.Errorf("recording what was adopted: %w", err)
	}
	return nil
}

// continued returns the live state that a create goes on with: under its URN, or under the former one if it was to be renamed
// as well. It is nil for the create of something new.
func continued(recorded []*state.Resource, res *state.Resource) *state.Resource {
	for _, u := range append([]urn.URN{res.URN}, res.Aliases...) {
		at := slices.IndexFunc(recorded, func(r *state.Resource) bool { return r.URN == u && !r.Delete })
		if at >= 0 {
			return recorded[at]
		}
	}
	return nil
}

// isReplaced reports whether a create was to make the replacement of a recorded state. What is decided on about a recorded
// state has the time of its creation (steps.md 3.2), so that another one has been recorded since the create began.
func isReplaced(op state.Pending, old *state.Resource) bool {
	return old != nil && op.Resource.Created.Equal(old.Created)
}

// isRecordedSince reports whether the object of an ID has been recorded as the resource since its create was interrupted.
func isRecordedSince(op state.Pending, old *state.Resource, id string) bool {
	return old != nil && old.ID == id && !old.PendingReplacement && !isReplaced(op, old)
}

// isAdoptable refuses what has no object, and an object that is recorded under the name already or cannot take its place.
func isAdoptable(op state.Pending, old *state.Resource, id string, recorded []*state.Resource) error {
	res := op.Resource
	if book.HasNoObject(res) {
		return fmt.Errorf("%s has no ID that could be imported; clear its pending create instead", res.URN)
	}
	for _, r := range recorded {
		if r == old || r.URN == res.URN && r.Delete {
			if err := take.CheckNotOld(id, r); err != nil {
				return err
			}
		}
	}
	if old != nil && !old.PendingReplacement && !isReplaced(op, old) {
		return fmt.Errorf("%s is recorded already, with the ID %s, so that %s cannot be imported under its name; "+
			"clear the pending create and delete the object, or import it under another name", res.URN, old.ID, id)
	}
	return nil
}
