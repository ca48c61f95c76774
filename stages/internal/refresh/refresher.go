package refresh

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/internal/control"
	"github.com/sluice-iac/sluice/stages/internal/rooms"
	"github.com/sluice-iac/sluice/stages/internal/step"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// Refresher reads all recorded states before the program starts.
type Refresher struct {
	Control  *control.Control
	Rooms    *rooms.Rooms // of the recorded state, not of the run: the refresh returns the base of the run
	Reader   *Reader
	Reporter *step.Reporter
	Recorded *state.Snapshot
}

// Refreshed is the result of a refresh.
type Refreshed struct {
	Snapshot *state.Snapshot
	// Read has the URNs whose states were selected, and what is known of all copies of each.
	Read map[urn.URN]knowledge
	// Vanished are those URNs whose object does not exist any more.
	Vanished map[urn.URN]bool
	// Changes are the resolutions of interrupted operations other than creates, if they were to be resolved.
	Changes []stages.Resolution
}

// knowledge is what a refresh knows of the objects of a URN, from the least on.
type knowledge uint8

const (
	failed knowledge = iota // one could not be read
	unread                  // the provider cannot read such objects
	read
)

// Refresh reads the recorded resources from their providers and returns the state with the results (steps.md 7.1, 7.3), also with
// an error. It reads only states for which selected is true, all at once. A failure does not stop the others, and their results are
// kept.
func (r *Refresher) Refresh(ctx context.Context, selected func(*state.Resource) bool) (Refreshed, error) {
	unchanged := Refreshed{Snapshot: r.Recorded}
	if len(r.Rooms.Base.Resources) == 0 {
		return unchanged, nil
	}
	var steps []*stages.Decision
	for i, res := range r.Rooms.Base.Resources {
		if res.ViewOf != "" || !selected(res) {
			continue
		}
		steps = append(steps, &stages.Decision{StepInfo: stages.StepInfo{
			Op: stages.OpRefresh, URN: res.URN, Type: res.Type, Old: res, Provider: res.Provider, Internal: res.URN.IsDefaultProvider(),
			Reason: stages.Reason{Kind: stages.ReasonRefresh},
		}, Rank: stages.Rank{Place: i}})
	}
	if len(steps) == 0 {
		return unchanged, nil
	}
	r.Reporter.Expect(steps...)
	found := make([]found, len(steps))
	errs := r.Reader.each(steps, func(i int, s *stages.Decision) error {
		found[i] = r.Reader.refreshOne(ctx, s, refreshing{into: s.Old.Clone(), opWithoutRead: stages.OpSame, keepsUncompared: true})
		if err := r.recordProgress(s, found[i]); err != nil {
			return fmt.Errorf("recording what was read: %w", err)
		}
		return nil
	})
	if err := errors.Join(errs...); err != nil {
		return unchanged, err
	}
	return r.rebuild(ctx, steps, found)
}

// recordProgress records the result of one read, so that the reads of a killed refresh are not lost (state.md 9.4 R-5). It does not
// wait: after all reads the whole base is recorded, and only then a state with changed views.
func (r *Refresher) recordProgress(s *stages.Decision, f found) error {
	if r.Reporter.Recorder == nil || !f.known || f.now == s.Old || len(f.views.changed)+len(f.views.added) > 0 {
		return nil
	}
	c := state.Change{Refresh: true, Elide: true}
	switch {
	case f.now == nil:
		c.Remove = append(c.Remove, s.Old)
	case s.Old.ID != f.now.ID || state.MustWrite(s.Old, f.now):
		c.Replace = append(c.Replace, state.Replacement{Old: s.Old, New: f.now})
	default:
		return nil
	}
	return r.Reporter.Recorder.End(r.Control.Operations, c)
}

// rebuild replaces the recorded states by the results (steps.md 7.3).
func (r *Refresher) rebuild(ctx context.Context, steps []*stages.Decision, all []found) (Refreshed, error) {
	out := Refreshed{Read: map[urn.URN]knowledge{}, Vanished: map[urn.URN]bool{}}
	changed := map[*state.Resource]*state.Resource{}
	views := map[*state.Resource][]*state.Resource{}
	anyFailed := false
	for i, f := range all {
		maps.Copy(changed, f.views.changed)
		if len(f.views.added) > 0 {
			views[steps[i].Old] = f.views.added
		}
		anyFailed = anyFailed || !f.ok
		if before, twice := out.Read[steps[i].URN]; twice {
			out.Read[steps[i].URN] = min(before, f.knowledge())
		} else {
			out.Read[steps[i].URN] = f.knowledge()
		}
		if f.known && f.now != steps[i].Old {
			changed[steps[i].Old] = f.now
			if f.now == nil {
				out.Vanished[steps[i].URN] = true
			}
		}
	}
	snapshot := *r.Recorded
	snapshot.Resources = state.Rebuild(withViews(r.Rooms.Base.Resources, views), changed)
	snapshot.Pending = slices.DeleteFunc(slices.Clone(snapshot.Pending), func(op state.Pending) bool {
		return isChange(op) && out.Read[r.readWith(op)] == read // the object is recorded as it is
	})
	out.Snapshot = &snapshot
	if r.Reporter.Recorder != nil {
		if err := r.Reporter.Recorder.Rebase(ctx, &snapshot); err != nil {
			return out, fmt.Errorf("recording the refreshed state: %w", err)
		}
	}
	if anyFailed || r.Control.IsHalted() {
		r.Control.Halt()
		return out, &stages.ReportedError{Err: ErrFailed}
	}
	return out, nil
}

// ResolveChanges resolves by reading the updates and deletes that an earlier run began and whose outcome is unknown (state.md 9.4
// R-8), and returns the results. Operations whose objects cannot be read stay pending. Interrupted reads and imports have changed
// nothing and are dropped.
func (r *Refresher) ResolveChanges(ctx context.Context) (Refreshed, error) {
	concerned := map[urn.URN]bool{}
	for _, op := range r.Recorded.Pending {
		if isChange(op) {
			concerned[r.readWith(op)] = true
		}
	}
	found, err := r.Refresh(ctx, func(res *state.Resource) bool { return concerned[res.URN] })
	if err != nil && !stages.IsReported(err) {
		return found, err
	}
	found.Changes = r.resolutions(found)
	if r.Reporter.Recorder == nil {
		return found, err
	}
	return found, errors.Join(err, r.forgetResolved(ctx, &found))
}

// forgetResolved records the resolved interrupted operations, except those that were resolved by reading an object: they are
// recorded with it.
func (r *Refresher) forgetResolved(ctx context.Context, found *Refreshed) error {
	now := *found.Snapshot
	for _, is := range found.Changes {
		at := slices.Index(now.Pending, is.Pending)
		if at < 0 || is.Outcome == stages.Unresolved || !isChange(is.Pending) {
			continue
		}
		if err := r.Reporter.Recorder.End(ctx, state.Change{Begun: is.Resource}); err != nil {
			return fmt.Errorf("recording that %s of %s is resolved: %w", is.Type, is.Resource.URN, err)
		}
		now.Pending = slices.Delete(slices.Clone(now.Pending), at, at+1)
	}
	found.Snapshot = &now
	return nil
}

// readWith returns the resource whose read resolves op: a view is read with its owner (steps.md 9.9).
func (r *Refresher) readWith(op state.Pending) urn.URN {
	if op.Resource.ViewOf != "" {
		return op.Resource.ViewOf
	}
	return r.recordedAs(op)
}

// recordedAs returns the name under which the resource of an interrupted operation is recorded. It is a former one if the operation
// was to rename it.
func (r *Refresher) recordedAs(op state.Pending) urn.URN {
	if is := op.StateIn(r.Recorded.Resources); is != nil {
		return is.URN
	}
	return op.Resource.URN
}

// resolutions returns how the results of the reads resolve the interrupted operations other than creates.
func (r *Refresher) resolutions(found Refreshed) (all []stages.Resolution) {
	there := map[urn.URN]*state.Resource{} // a live copy, if there is one
	for _, res := range found.Snapshot.Resources {
		if known := there[res.URN]; known == nil || known.Delete {
			there[res.URN] = res
		}
	}
	for _, op := range r.Recorded.Pending {
		is := stages.Resolution{Pending: op}
		now := there[r.recordedAs(op)]
		switch {
		case op.Type == state.Creating:
			continue
		case op.Type == state.Reading || op.Type == state.Importing:
			is.Outcome, is.Why = stages.Dropped, "it changes no object"
		case now == nil:
			is.Outcome, is.Why = stages.Gone, "no object was found"
		case found.Read[r.readWith(op)] == failed:
			is.Outcome, is.Why = stages.Unresolved, "the object could not be read"
		case found.Read[r.readWith(op)] == unread:
			is.Outcome, is.Why = stages.Unresolved, "nothing can be read of such an object; it is resolved when it is updated, replaced or deleted"
		default:
			is.Outcome, is.ID, is.Why = stages.Exists, now.ID, "the object was read"
		}
		all = append(all, is)
	}
	return all
}

// isChange reports whether reading an object resolves an operation.
func isChange(op state.Pending) bool { return op.Type != state.Creating && op.IsInDoubt() }
