package sweep

import (
	"context"
	"errors"
	"strings"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/internal/access"
	"github.com/sluice-iac/sluice/stages/internal/book"
	"github.com/sluice-iac/sluice/stages/internal/control"
	"github.com/sluice-iac/sluice/stages/internal/take"
	"github.com/sluice-iac/sluice/state"
)

// Reader reads recorded objects again.
type Reader struct {
	Control           *control.Control
	Book              *book.Book
	Access            *access.Access
	Taker             *take.Taker
	LegacyRefreshDiff bool
}

// found is what a refresh found: the state as it is now, nil if the object is gone.
type found struct {
	ok    bool // nothing failed
	known bool // now says how the object is
	now   *state.Resource
	views refreshedViews
}

// refreshing says how a state is refreshed.
type refreshing struct {
	// into is a copy of the state for what is found: with the options of the program, where the program runs.
	into *state.Resource
	// opWithoutRead is the reported operation where there is nothing to read.
	opWithoutRead stages.Op
	// record is true for a state that is recorded by itself and not together with all others.
	record bool
	// keepsUncompared is true if what was read is kept even if the provider then fails to compare it with what was recorded.
	keepsUncompared bool
}

// refreshOne reads one state. Where a refresh is the whole operation, it is counted and reported as what was found.
func (r *Reader) refreshOne(ctx context.Context, d *stages.Decision, how refreshing) found {
	if !r.Control.Enter() {
		return found{}
	}
	defer r.Control.Leave(nil)
	s := &take.Taking{Decision: d}
	r.Taker.Begin(d)
	s.Publication = r.Taker.PublicationFor(d, true)
	now, op, diff, err := r.readNow(ctx, s, how)
	known := err == nil || now != nil && how.keepsUncompared
	if known && how.record && now != nil {
		if unrecorded := r.recordFound(d, now); err == nil {
			err = unrecorded
		}
	}
	if err != nil {
		r.Taker.EndFailed(d, nil, d.StepInfo, take.Failed(err))
		if !known {
			now = d.Old
		}
		f, _ := r.refreshViews(s, found{known: known, now: now}, how.record)
		return f
	}
	info := d.StepInfo
	info.New, info.Reason = now, foundReason(op, d.Old, diff)
	if now == d.Old {
		info.Reason = stages.Reason{Kind: stages.ReasonUnchanged} // whatever it is reported as
	}
	if r.Book.Mode == stages.ModeRefresh {
		info.Op, info.Diffs, info.DetailedDiff = op, diff.ChangedKeys, diff.DetailedDiff
	}
	r.Taker.EndFound(d, info)
	f, err := r.refreshViews(s, found{known: true, now: now}, how.record)
	if err == nil && how.record && now == nil {
		if unrecorded := r.recordFound(d, nil); unrecorded != nil { // after its views
			err = r.Control.Broken(d, unrecorded)
		}
	}
	f.ok = err == nil
	return f
}

// recordFound records what a refresh found while others go on (steps.md 7.6 "persistence").
func (r *Reader) recordFound(s *stages.Decision, now *state.Resource) error {
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
	return r.Taker.Change(s, c, true)
}

// readNow reads a recorded object and returns its state and what kind of change that is (steps.md 7.6). If it fails after the
// object has been read, it returns the state with the error.
func (r *Reader) readNow(ctx context.Context, s *take.Taking, how refreshing) (now *state.Resource, op stages.Op, diff providers.DiffResponse, err error) {
	old := s.Old
	if !old.Custom || old.Type.IsProvider() || old.PendingReplacement || r.Book.Decisions.IsDeletedByClosure(old) {
		return old, how.opWithoutRead, diff, nil
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
		return nil, stages.OpDelete, diff, nil
	}
	now = how.into
	now.ID, now.Outputs, now.InitErrors, now.RefreshBeforeUpdate = res.ID, res.Properties, initErrors, res.RefreshBeforeUpdate
	if res.HasInputs {
		now.Inputs = res.Inputs
	}
	drifted := !property.EqualMaps(old.Inputs, now.Inputs) || !property.EqualMaps(old.Outputs, now.Outputs)
	if drifted {
		now.Modified = r.Control.Now().UTC()
	}
	if old.External || r.LegacyRefreshDiff {
		return r.Taker.MarkSecrets(now), opOf(!property.EqualMaps(old.Outputs, now.Outputs)), diff, nil
	}
	// The diff that people see goes from what was recorded to what is there.
	if diff, err = r.Access.CallDiff(r.Control.Operations, p, s.URN, now, old.Inputs, r.Control.DryRun(), old.IgnoreChanges); err != nil {
		return r.Taker.MarkSecrets(now), "", diff, err
	}
	diff.DetailedDiff = inverted(diff.DetailedDiff)
	return r.Taker.MarkSecrets(now), opOf(diff.Changes == providers.DiffSome), diff, nil
}

// refresher returns the provider that a refresh reads with: the one that the program gives the resource, which s names, or
// the recorded one.
func (r *Reader) refresher(ctx context.Context, s *stages.Decision, old *state.Resource) (providers.Provider, error) {
	if s.Provider != old.Provider {
		old = old.Clone()
		old.Provider = s.Provider
	}
	return r.Access.ProviderFor(ctx, old)
}

func opOf(changed bool) stages.Op {
	if changed {
		return stages.OpUpdate
	}
	return stages.OpSame
}

// callRead reads an object; one that is not healthy is a warning (steps.md 7.6).
func (r *Reader) callRead(p providers.Provider, s *take.Taking) (providers.ReadResponse, []string, error) {
	old := s.Old
	res, err := p.Read(r.Control.Operations, providers.ReadRequest{
		URN: s.URN, Name: s.URN.Name(), Type: s.Type, ID: old.ID, Inputs: old.Inputs, State: old.Outputs, Known: true,
		Timeout: old.CustomTimeouts.Read, OldViews: s.Publication.OldViews(), Status: s.Publication,
	})
	var partial *providers.InitError
	if !errors.As(err, &partial) {
		return res, nil, err
	}
	r.Control.Warn(s.URN, "Refreshed resource is in an unhealthy state:\n* %s", strings.Join(partial.Reasons, "\n* "))
	return providers.ReadResponse{
		ID: partial.ID, Exists: true, Inputs: partial.Inputs, HasInputs: partial.HasInputs, Properties: partial.Properties,
		RefreshBeforeUpdate: partial.RefreshBeforeUpdate,
	}, partial.Reasons, nil
}

// inverted returns a diff in the other direction: an addition becomes a deletion.
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
