package stages

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"

	"github.com/sourcegraph/conc/pool"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/state"
)

// Refresh reads what is recorded from its providers and makes what it finds the base of the run (steps.md 7.1, 7.3). Only
// states for which selected is true are read, all at once; a failure does not stop the others, and what was read is kept.
// It must be called before the program starts.
func (r *Run) Refresh(ctx context.Context, selected func(*state.Resource) bool) error {
	if len(r.base.resources) == 0 {
		return nil
	}
	if err := r.CheckTargets(); err != nil {
		return err
	}
	var steps []*Decision
	for i, res := range r.base.resources {
		if res.ViewOf != "" || !selected(res) {
			continue
		}
		steps = append(steps, &Decision{StepInfo: StepInfo{
			Op: OpRefresh, URN: res.URN, Type: res.Type, Old: res, Provider: res.Provider, Internal: res.URN.IsDefaultProvider(),
			Reason: Reason{Kind: ReasonRefresh},
		}, Rank: Rank{Place: i}})
	}
	if len(steps) == 0 {
		return nil
	}
	r.record.note(steps...)
	found, unrecorded := make([]found, len(steps)), make([]error, len(steps))
	p := pool.New().WithMaxGoroutines(readWorkers)
	for i, s := range steps {
		p.Go(func() {
			found[i] = r.refreshOne(ctx, s, refreshing{into: s.Old.Clone(), unread: OpSame, unjudged: true})
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
func (r *Run) recordProgress(s *Decision, f found) error {
	if r.Recorder == nil || !f.known || f.now == s.Old || len(f.views.changed)+len(f.views.added) > 0 {
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
	return r.Recorder.End(r.operations, c)
}

// found is what a refresh found: the state as it is now, nil if the object is gone.
type found struct {
	ok    bool // nothing failed
	known bool // now says how the object is
	now   *state.Resource
	views refreshedViews
}

// rebuild puts what was found in the place of the base (steps.md 7.3).
func (r *Run) rebuild(ctx context.Context, steps []*Decision, all []found) error {
	changed := map[*state.Resource]*state.Resource{}
	views := map[*state.Resource][]*state.Resource{}
	failed := false
	for i, f := range all {
		maps.Copy(changed, f.views.changed)
		if len(f.views.added) > 0 {
			views[steps[i].Old] = f.views.added
		}
		failed = failed || !f.ok
		if before, twice := r.read[steps[i].URN]; !twice || before {
			r.read[steps[i].URN] = f.ok && f.known
		}
		if f.known && f.now != steps[i].Old {
			changed[steps[i].Old] = f.now
			if f.now == nil {
				r.vanished[steps[i].URN] = true
			}
		}
	}
	snapshot := *r.Base
	snapshot.Resources = state.Rebuild(withViews(r.base.resources, views), changed)
	r.Base, r.base = &snapshot, newBase(snapshot.Resources)
	r.world.addViews(snapshot.Resources)
	if r.Recorder != nil {
		if err := r.Recorder.Rebase(ctx, &snapshot); err != nil {
			return fmt.Errorf("recording the refreshed state: %w", err)
		}
	}
	if failed || r.IsHalted() {
		r.Halt()
		return &bailError{errRefreshFailed}
	}
	return nil
}

var errRefreshFailed = errors.New("the refresh failed; see the errors of the resources")

// refreshing says how a state is refreshed.
type refreshing struct {
	// into is a copy of the state for what is found: with the options of the program, where the program runs.
	into *state.Resource
	// unread is what a refresh is reported as of which there is nothing to read.
	unread Op
	// record is true for a refresh that is recorded by itself and not with all others.
	record bool
	// unjudged is true if what was read is kept even if the provider then could not compare it with what was recorded.
	unjudged bool
}

// refreshOne reads one state. Where a refresh is the whole operation, it is counted and reported as what was found.
func (r *Run) refreshOne(ctx context.Context, d *Decision, how refreshing) found {
	if !r.enter() {
		return found{}
	}
	defer r.leave()
	s := &taking{Decision: d}
	r.record.begin(d)
	r.Emit(StepStarted{Step: d.StepInfo, Planning: r.DryRun(), At: r.Now()})
	s.publication = r.publicationFor(d, true)
	now, op, diff, err := r.readNow(ctx, s, how)
	known := err == nil || now != nil && how.unjudged
	if known && how.record && now != nil {
		if unrecorded := r.recordFound(d, now); err == nil {
			err = unrecorded
		}
	}
	if err != nil {
		r.record.end(d, Outcome{Fate: FateFailed})
		r.reportFailure(d, d.StepInfo, failed(err))
		if !known {
			now = d.Old
		}
		f, _ := r.refreshViews(s, found{known: known, now: now}, how.record)
		return f
	}
	info := d.StepInfo
	info.New, info.Reason = now, foundReason(op, d.Old, diff)
	if now == d.Old {
		info.Reason = Reason{Kind: ReasonUnchanged} // whatever it is reported as
	}
	if r.Mode == ModeRefresh {
		info.Op, info.Diffs, info.DetailedDiff = op, diff.ChangedKeys, diff.DetailedDiff
		r.record.report(d)
	}
	r.record.end(d, Outcome{Fate: FateDone, Found: &info})
	r.Emit(StepDone{Step: info, Planning: r.DryRun(), At: r.Now()})
	f, err := r.refreshViews(s, found{known: true, now: now}, how.record)
	if err == nil && how.record && now == nil {
		err = r.recordFound(d, nil) // after its views
	}
	f.ok = err == nil
	return f
}

// recordFound records what a refresh found while others go on (steps.md 7.6 "persistence").
func (r *Run) recordFound(s *Decision, now *state.Resource) error {
	if now == s.Old {
		return nil
	}
	c := state.Change{Refresh: true}
	if now == nil {
		c.Remove = []*state.Resource{s.Old}
	} else {
		c.Replace = []state.Replacement{{Old: s.Old, New: now}}
		c.Elide = s.Old.ID == now.ID && !state.MustWrite(s.Old, now)
	}
	r.world.settle(c)
	if r.Recorder == nil {
		return nil
	}
	if err := r.Recorder.End(r.operations, c); err != nil {
		return fmt.Errorf("recording what became of %s: %w", s.URN, err)
	}
	return nil
}

// readNow finds out how a recorded object is now, and what kind of change that is (steps.md 7.6). If it fails when the object
// has been read, it returns that state with the error.
func (r *Run) readNow(ctx context.Context, s *taking, how refreshing) (now *state.Resource, op Op, diff providers.DiffResponse, err error) {
	old := s.Old
	if !old.Custom || old.Type.IsProvider() || old.PendingReplacement || r.outcomes.isGone(old) {
		return old, how.unread, diff, nil
	}
	p, err := r.refresher(ctx, s.Decision, old)
	if err != nil {
		return nil, "", diff, err
	}
	res, initErrors, err := r.callRead(p, s)
	if err != nil {
		return nil, "", diff, err
	}
	if res.ID == "" || !res.Exists {
		return nil, OpDelete, diff, nil
	}
	now = how.into
	now.ID, now.Outputs, now.InitErrors, now.RefreshBeforeUpdate = res.ID, res.Properties, initErrors, res.RefreshBeforeUpdate
	if res.HasInputs {
		now.Inputs = res.Inputs
	}
	drifted := !property.EqualMaps(old.Inputs, now.Inputs) || !property.EqualMaps(old.Outputs, now.Outputs)
	if drifted {
		now.Modified = r.Now().UTC()
	}
	if old.External || r.LegacyRefreshDiff {
		return r.markSecrets(now), opOf(!property.EqualMaps(old.Outputs, now.Outputs)), diff, nil
	}
	// The difference that people see is from what was recorded to what is there.
	if diff, err = r.callDiff(r.operations, p, s.URN, now, old.Inputs, r.DryRun(), old.IgnoreChanges); err != nil {
		return r.markSecrets(now), "", diff, err
	}
	diff.DetailedDiff = inverted(diff.DetailedDiff)
	return r.markSecrets(now), opOf(diff.Changes == providers.DiffSome), diff, nil
}

// refresher returns the provider that a refresh reads with: the one that the program gives the resource, which s names, or
// the recorded one.
func (r *Run) refresher(ctx context.Context, s *Decision, old *state.Resource) (providers.Provider, error) {
	if s.Provider != old.Provider {
		old = old.Clone()
		old.Provider = s.Provider
	}
	return r.providerFor(ctx, old)
}

func opOf(changed bool) Op {
	if changed {
		return OpUpdate
	}
	return OpSame
}

// callRead reads an object; one that is not healthy is a warning (steps.md 7.6).
func (r *Run) callRead(p providers.Provider, s *taking) (providers.ReadResponse, []string, error) {
	old := s.Old
	res, err := p.Read(r.operations, providers.ReadRequest{
		URN: s.URN, Name: s.URN.Name(), Type: s.Type, ID: old.ID, Inputs: old.Inputs, State: old.Outputs, Known: true,
		Timeout: old.CustomTimeouts.Read, OldViews: s.publication.oldViews(), Status: s.publication,
	})
	var partial *providers.InitError
	if !errors.As(err, &partial) {
		return res, nil, err
	}
	r.warn(s.URN, "Refreshed resource is in an unhealthy state:\n* %s", strings.Join(partial.Reasons, "\n* "))
	return providers.ReadResponse{
		ID: partial.ID, Exists: true, Inputs: partial.Inputs, HasInputs: partial.HasInputs, Properties: partial.Properties,
		RefreshBeforeUpdate: partial.RefreshBeforeUpdate,
	}, partial.Reasons, nil
}

// inverted turns a diff around: what was added from there is gone from here.
func inverted(in map[string]providers.PropertyDiff) map[string]providers.PropertyDiff {
	if in == nil {
		return nil
	}
	out := make(map[string]providers.PropertyDiff, len(in))
	for path, d := range in {
		switch d.Kind {
		case providers.DiffAdd:
			d.Kind = providers.DiffDelete
		case providers.DiffAddReplace:
			d.Kind = providers.DiffDeleteReplace
		case providers.DiffDelete:
			d.Kind = providers.DiffAdd
		case providers.DiffDeleteReplace:
			d.Kind = providers.DiffAddReplace
		}
		out[path] = d
	}
	return out
}

// NeedsRefresh tells whether a provider asked for the state to be read before every update (steps.md 3.15).
func NeedsRefresh(s *state.Resource) bool { return s.RefreshBeforeUpdate && !s.Delete }
