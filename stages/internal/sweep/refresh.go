package sweep

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"github.com/sourcegraph/conc/pool"

	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/internal/access"
	"github.com/sluice-iac/sluice/stages/internal/book"
	"github.com/sluice-iac/sluice/stages/internal/control"
	"github.com/sluice-iac/sluice/stages/internal/take"
	"github.com/sluice-iac/sluice/stages/internal/targeting"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// Refresher refreshes what is recorded.
type Refresher struct {
	*control.Control
	*book.Book
	Reader  *Reader
	Targets *targeting.Targets
	Taker   *take.Taker
	Read    map[urn.URN]bool // the URNs that have been looked at: whether all copies could be read
}

// Refresh reads what is recorded from its providers and makes what it finds the base of the run (steps.md 7.1, 7.3). Only
// states for which selected is true are read, all at once; a failure does not stop the others, and what was read is kept.
// It is called before the program starts.
func (r *Refresher) Refresh(ctx context.Context, selected func(*state.Resource) bool) error {
	if len(r.Base.Resources) == 0 {
		return nil
	}
	if err := r.Targets.CheckTargets(); err != nil {
		return err
	}
	var steps []*stages.Decision
	for i, res := range r.Base.Resources {
		if res.ViewOf != "" || !selected(res) {
			continue
		}
		steps = append(steps, &stages.Decision{StepInfo: stages.StepInfo{
			Op: stages.OpRefresh, URN: res.URN, Type: res.Type, Old: res, Provider: res.Provider, Internal: res.URN.IsDefaultProvider(),
			Reason: stages.Reason{Kind: stages.ReasonRefresh},
		}, Rank: stages.Rank{Place: i}})
	}
	if len(steps) == 0 {
		return nil
	}
	r.Record.Note(steps...)
	found, unrecorded := make([]found, len(steps)), make([]error, len(steps))
	p := pool.New().WithMaxGoroutines(access.ReadWorkers)
	for i, s := range steps {
		p.Go(func() {
			found[i] = r.Reader.refreshOne(ctx, s, refreshing{into: s.Old.Clone(), unread: stages.OpSame, unjudged: true})
			unrecorded[i] = r.recordProgress(s, found[i])
		})
	}
	p.Wait()
	if err := errors.Join(unrecorded...); err != nil {
		return fmt.Errorf("recording what was read: %w", err)
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
	return r.Taker.Recorder.End(r.Operations, c)
}

// rebuild puts what was found in the place of the base (steps.md 7.3).
func (r *Refresher) rebuild(ctx context.Context, steps []*stages.Decision, all []found) error {
	changed := map[*state.Resource]*state.Resource{}
	views := map[*state.Resource][]*state.Resource{}
	failed := false
	for i, f := range all {
		maps.Copy(changed, f.views.changed)
		if len(f.views.added) > 0 {
			views[steps[i].Old] = f.views.added
		}
		failed = failed || !f.ok
		if before, twice := r.Read[steps[i].URN]; !twice || before {
			r.Read[steps[i].URN] = f.ok && f.known
		}
		if f.known && f.now != steps[i].Old {
			changed[steps[i].Old] = f.now
			if f.now == nil {
				r.Vanished[steps[i].URN] = true
			}
		}
	}
	snapshot := *r.Snapshot
	snapshot.Resources = state.Rebuild(withViews(r.Base.Resources, views), changed)
	r.Book.Open(&snapshot)
	if r.Taker.Recorder != nil {
		if err := r.Taker.Recorder.Rebase(ctx, &snapshot); err != nil {
			return fmt.Errorf("recording the refreshed state: %w", err)
		}
	}
	if failed || r.IsHalted() {
		r.Halt()
		return &stages.ReportedError{Err: errRefreshFailed}
	}
	return nil
}

var errRefreshFailed = errors.New("the refresh failed; see the errors of the resources")
