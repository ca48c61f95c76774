package sweep

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/sourcegraph/conc/pool"

	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/internal/book"
	"github.com/sluice-iac/sluice/stages/internal/control"
	"github.com/sluice-iac/sluice/stages/internal/take"
	"github.com/sluice-iac/sluice/stages/internal/targeting"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// Refresher reads everything that is recorded, before the program starts.
type Refresher struct {
	Control  *control.Control
	Book     *book.Book // of what is recorded, not of the run, whose base is what the refresh returns
	Reader   *Reader
	Targets  *targeting.Targets
	Taker    *take.Taker
	Recorded *state.Snapshot
}

// Refreshed is what a refresh has come to.
type Refreshed struct {
	*state.Snapshot
	// Read are the URNs that have been looked at: whether all copies could be read.
	Read map[urn.URN]bool
	// Vanished are those of them whose object does not exist any more.
	Vanished map[urn.URN]bool
	// Changes say how interrupted operations other than creates are resolved, if that was asked for.
	Changes []stages.Resolution
}

// Refresh reads what is recorded from its providers and returns the state with what it has found (steps.md 7.1, 7.3), also
// with an error. Only states for which selected is true are read, all at once; a failure does not stop the others, and what was
// read is kept.
func (r *Refresher) Refresh(ctx context.Context, selected func(*state.Resource) bool) (Refreshed, error) {
	unchanged := Refreshed{Snapshot: r.Recorded}
	if len(r.Book.Base.Resources) == 0 {
		return unchanged, nil
	}
	if err := r.Targets.CheckTargets(); err != nil {
		return unchanged, err
	}
	var steps []*stages.Decision
	for i, res := range r.Book.Base.Resources {
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
	r.Taker.Expect(steps...)
	found, unrecorded := make([]found, len(steps)), make([]error, len(steps))
	p := pool.New().WithMaxGoroutines(r.Reader.Access.ReadWorkers())
	for i, s := range steps {
		p.Go(func() {
			found[i] = r.Reader.refreshOne(ctx, s, refreshing{into: s.Old.Clone(), opWithoutRead: stages.OpSame, keepsUncompared: true})
			unrecorded[i] = r.recordProgress(s, found[i])
		})
	}
	p.Wait()
	if err := errors.Join(unrecorded...); err != nil {
		return unchanged, fmt.Errorf("recording what was read: %w", err)
	}
	return r.rebuild(ctx, steps, found)
}

// recordProgress records what one read has found, so that a refresh that is killed has not read in vain (state.md 9.4 R-5). It
// waits for nothing: when all is read the whole base is recorded. What the object consists of is left to that.
func (r *Refresher) recordProgress(s *stages.Decision, f found) error {
	if r.Taker.Recorder == nil || !f.known || f.now == s.Old || len(f.views.changed)+len(f.views.added) > 0 {
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
	return r.Taker.Recorder.End(r.Control.Operations, c)
}

// rebuild puts what was found in the place of what was recorded (steps.md 7.3).
func (r *Refresher) rebuild(ctx context.Context, steps []*stages.Decision, all []found) (Refreshed, error) {
	out := Refreshed{Read: map[urn.URN]bool{}, Vanished: map[urn.URN]bool{}}
	changed := map[*state.Resource]*state.Resource{}
	views := map[*state.Resource][]*state.Resource{}
	failed := false
	for i, f := range all {
		maps.Copy(changed, f.views.changed)
		if len(f.views.added) > 0 {
			views[steps[i].Old] = f.views.added
		}
		failed = failed || !f.ok
		if before, twice := out.Read[steps[i].URN]; !twice || before {
			out.Read[steps[i].URN] = f.ok && f.known
		}
		if f.known && f.now != steps[i].Old {
			changed[steps[i].Old] = f.now
			if f.now == nil {
				out.Vanished[steps[i].URN] = true
			}
		}
	}
	snapshot := *r.Recorded
	snapshot.Resources = state.Rebuild(withViews(r.Book.Base.Resources, views), changed)
	snapshot.Pending = slices.DeleteFunc(slices.Clone(snapshot.Pending), func(op state.Pending) bool {
		return isChange(op) && out.Read[r.readWith(op)] // the object is recorded as it is
	})
	out.Snapshot = &snapshot
	if r.Taker.Recorder != nil {
		if err := r.Taker.Recorder.Rebase(ctx, &snapshot); err != nil {
			return out, fmt.Errorf("recording the refreshed state: %w", err)
		}
	}
	if failed || r.Control.IsHalted() {
		r.Control.Halt()
		return out, &stages.ReportedError{Err: errRefreshFailed}
	}
	return out, nil
}

var errRefreshFailed = errors.New("the refresh failed; see the errors of the resources")
