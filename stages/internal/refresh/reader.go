package refresh

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/sluice-iac/sluice/pipeline"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/internal/access"
	"github.com/sluice-iac/sluice/stages/internal/compare"
	"github.com/sluice-iac/sluice/stages/internal/control"
	"github.com/sluice-iac/sluice/stages/internal/rooms"
	"github.com/sluice-iac/sluice/stages/internal/step"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
	"github.com/sourcegraph/conc/pool"
)

// Reader reads recorded objects again.
type Reader struct {
	Control           *control.Control
	Rooms             *rooms.Rooms
	Access            *access.Access
	Reporter          *step.Reporter
	Views             *step.Views
	LegacyRefreshDiff bool
}

// found is the result of a refresh: the present state, nil if the object is gone.
type found struct {
	ok    bool // nothing failed
	known bool // now is the present state of the object
	now   *state.Resource
	views refreshedViews
	// unread is true if the provider cannot read such objects or is not configured, so that now is the recorded state.
	unread bool
}

func (f found) knowledge() knowledge {
	switch {
	case !f.ok || !f.known:
		return failed
	case f.unread:
		return unread
	}
	return read
}

// refreshing defines how a state is refreshed.
type refreshing struct {
	// into is a copy of the state for the result: with the options of the program, where the program runs.
	into *state.Resource
	// opWithoutRead is the reported operation if there is nothing to read.
	opWithoutRead stages.Op
	// record is true for a state that is recorded by itself and not together with all others.
	record bool
	// keepsUncompared is true if the result of the read is kept even if the provider then fails to compare it with the recorded
	// state.
	keepsUncompared bool
}

// RefreshRegistered reads the recorded state that a registration continues. It waits for the decisions that could concern that
// state: a state that a delete-before-replace deletes is not read (steps.md 7.6).
func (r *Reader) RefreshRegistered(ctx context.Context, l stages.Located) (stages.Located, error) {
	managed := l.Goal.IsManaged()
	if managed {
		if err := r.Access.EnsureProvider(ctx, l); err != nil {
			return l, err
		}
		if _, err := r.Access.ProviderOf(l); err != nil {
			return l, err
		}
		if err := r.Rooms.Ancestors.AwaitDecisions(ctx, l.Seq, l.Claimed); err != nil {
			return l, err
		}
	}
	s := &stages.Decision{StepInfo: stages.StepInfo{
		Op: stages.OpRefresh, URN: l.URN, Type: l.Goal.Type, Old: l.Old, Provider: l.Goal.Provider, Internal: !managed,
		Reason: stages.Reason{Kind: stages.ReasonRefresh},
	}, Rank: stages.Rank{Seq: l.Seq, Place: -1}}
	r.Reporter.Expect(s)
	// If there is nothing to read, Pulumi reports an update, as it makes a copy of the state. This is visible only for a resource
	// that awaits its replacement.
	f := r.refreshOne(ctx, s, refreshing{into: r.toRefresh(l), opWithoutRead: stages.OpUpdate, record: true})
	if !f.ok {
		if !r.Control.DryRun() {
			r.Control.Halt()
		}
		return l, &stages.ReportedError{Err: ErrFailed, GoesOn: r.Control.DryRun()}
	}
	if l.Old = f.now; l.Old == nil {
		return l, nil
	}
	r.Reporter.Keep(s, l.Old)
	return l, nil
}

// toRefresh returns the state into which a refresh puts the result. It has the options of the program, except in an update, which
// records them later.
func (r *Reader) toRefresh(l stages.Located) *state.Resource {
	if r.Rooms.Mode == stages.ModeUpdate {
		return l.Old.Clone()
	}
	s := l.NewState(stages.Checked{Inputs: l.Old.Inputs})
	s.External, s.Taint = l.Old.External, l.Old.Taint
	if (r.Rooms.Names.LeavesRecorded() || r.Rooms.Targeting.IsPartial() || r.Control.HasFailed()) && r.closesCircle(s) {
		old := l.Old
		s.Provider, s.Dependencies, s.PropertyDependencies = old.Provider, old.Dependencies, old.PropertyDependencies
		s.DeletedWith, s.ReplaceWith = old.DeletedWith, old.ReplaceWith
	}
	return s
}

// closesCircle reports whether a state with the program's references would come to refer to itself, because a resource on the way
// stays as it is recorded: a refresh does not touch resources that are left out, that refer to one that is not created, or whose read has failed. Resources that are reached by
// the program's references have their replies. Those that are reached only by recorded references may still change, and count as
// they are recorded.
func (r *Reader) closesCircle(s *state.Resource) bool {
	type node struct {
		*state.Resource
		recorded bool
	}
	seen := map[urn.URN]bool{}
	for todo := []node{{s, false}}; len(todo) > 0; todo = todo[1:] {
		here := todo[0]
		for ref := range here.References() {
			u := r.Rooms.Names.NewNameOf(ref.URN)
			if u == s.URN {
				return true
			}
			if seen[u] {
				continue
			}
			seen[u] = true
			if now, ok := r.Rooms.Results.Lookup(u); ok && !here.recorded {
				todo = append(todo, node{now, false})
			} else if old := r.Rooms.Base.Olds[ref.URN]; old != nil {
				todo = append(todo, node{old, true})
			}
		}
	}
	return false
}

// RefreshRest reads the resources that the program of a refresh has not registered, all at once, and records them (steps.md 7.4).
// Nothing is deleted. A failure does not stop the others.
func (r *Reader) RefreshRest(ctx context.Context) error {
	selected := r.Rooms.Refreshable()
	var steps []*stages.Decision
	for i, res := range r.Rooms.Base.Resources {
		in, now := selected(res), r.Rooms.Results.Current(res)
		if !in || now == nil || res.ViewOf != "" || r.Rooms.IsOperatedOn(res.URN) {
			continue
		}
		steps = append(steps, &stages.Decision{StepInfo: stages.StepInfo{
			Op: stages.OpRefresh, URN: now.URN, Type: now.Type, Old: now, Provider: now.Provider, Internal: now.URN.IsDefaultProvider(),
			Reason: stages.Reason{Kind: stages.ReasonRefresh},
		}, Rank: stages.Rank{Seq: stages.EndPhaseSeq, Place: i}})
	}
	r.Reporter.Expect(steps...)
	errs := r.each(steps, func(_ int, s *stages.Decision) error {
		if f := r.refreshOne(ctx, s, refreshing{into: s.Old.Clone(), opWithoutRead: stages.OpSame, record: true, keepsUncompared: true}); !f.ok {
			return ErrFailed
		}
		return nil
	})
	if errors.Join(errs...) == nil {
		return nil
	}
	r.Control.Halt()
	for _, err := range errs {
		if err != nil && !errors.Is(err, ErrFailed) { // not an error of a resource
			return fmt.Errorf("refreshing what the program does not declare: %w", err)
		}
	}
	return &stages.ReportedError{Err: errors.New("some of what the program does not declare could not be refreshed; see the errors of the resources")}
}

// each calls f for all steps at once, as far as reads are, and returns the errors in the order of the steps. A call that does not return is an error, too.
func (r *Reader) each(steps []*stages.Decision, f func(i int, s *stages.Decision) error) []error {
	errs := make([]error, len(steps))
	p := pool.New().WithMaxGoroutines(r.Access.ReadWorkers())
	for i, s := range steps {
		p.Go(func() {
			pipeline.Attempt(func() error { return f(i, s) }, func(err error) {
				if err != nil {
					errs[i] = fmt.Errorf("%s: %w", s.URN, err)
				}
			})
		})
	}
	p.Wait()
	return errs
}

// refreshOne reads one state. If the whole operation is a refresh, it is counted and reported by its result.
func (r *Reader) refreshOne(ctx context.Context, d *stages.Decision, how refreshing) found {
	r.Control.AwaitAdmission()
	if !r.Control.Enter() {
		return found{}
	}
	defer r.Control.Leave(nil)
	s := &step.InProgress{Decision: d}
	r.Reporter.Begin(d)
	s.Publication = r.Views.PublicationFor(d, true)
	now, op, diff, unread, err := r.readNow(ctx, s, how)
	known := err == nil || now != nil && how.keepsUncompared
	if known && how.record && now != nil {
		if unrecorded := r.recordFound(d, now); err == nil {
			err = unrecorded
		}
	}
	if err != nil {
		r.Reporter.EndFailed(d, nil, d.StepInfo, step.Failed(err))
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
	if r.Rooms.Mode == stages.ModeRefresh {
		info.Op, info.Diffs, info.DetailedDiff = op, diff.ChangedKeys, diff.DetailedDiff
	}
	r.Reporter.EndFound(d, info)
	f, err := r.refreshViews(s, found{known: true, now: now, unread: unread}, how.record)
	if err == nil && how.record && now == nil {
		if unrecorded := r.recordFound(d, nil); unrecorded != nil { // after its views
			err = r.Control.Broken(d, unrecorded)
		}
	}
	f.ok = err == nil
	return f
}

// recordFound records the result of a refresh while others go on (steps.md 7.6 "persistence").
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
	return r.Reporter.Change(s, c, true)
}

// readNow reads a recorded object and returns its state and the kind of the change (steps.md 7.6). If it fails after the object has
// been read, it returns the state with the error.
func (r *Reader) readNow(ctx context.Context, s *step.InProgress, how refreshing) (
	now *state.Resource, op stages.Op, diff providers.DiffResponse, unread bool, err error,
) {
	old := s.Decision.Old
	if !old.Custom || old.Type.IsProvider() || old.PendingReplacement || r.Rooms.Decisions.IsDeletedByClosure(old) {
		return old, how.opWithoutRead, diff, false, nil
	}
	p, err := r.refresher(ctx, s.Decision, old)
	if err != nil {
		return nil, "", diff, false, err
	}
	res, initErrors, err := r.callRead(p, s)
	if err != nil {
		return nil, "", diff, false, err
	}
	if res.Absent {
		return nil, stages.OpDelete, diff, false, nil
	}
	if res.Unknown {
		r.Control.Warn(s.Decision.URN, "the configuration of this resource's provider is not known during the preview, so the object is not read; "+
			"the operation may find that it has changed")
		return old, stages.OpSame, diff, true, nil
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
		return step.MarkSecrets(r.Control, now), opOf(!property.EqualMaps(old.Outputs, now.Outputs)), diff, res.Unread, nil
	}
	// The displayed diff goes from the recorded state to the present one.
	if diff, err = r.Access.CallDiff(r.Control.Operations, p, s.Decision.URN, now, old.Inputs, r.Control.DryRun(), old.IgnoreChanges); err != nil {
		return step.MarkSecrets(r.Control, now), "", diff, res.Unread, err
	}
	diff.DetailedDiff = inverted(diff.DetailedDiff)
	return step.MarkSecrets(r.Control, now), opOf(diff.Changes == providers.DiffSome), diff, res.Unread, nil
}

// refresher returns the provider that reads a resource in a refresh: the one that the program gives the resource, which s names, or
// the recorded one.
func (r *Reader) refresher(ctx context.Context, s *stages.Decision, old *state.Resource) (providers.Provider, error) {
	if s.Provider != old.Provider {
		old = old.Clone()
		old.Provider = s.Provider
	}
	return r.Access.ProviderFor(ctx, old)
}

// callRead reads an object; one that is not healthy is a warning (steps.md 7.6).
func (r *Reader) callRead(p providers.Provider, s *step.InProgress) (providers.ReadResponse, []string, error) {
	old := s.Decision.Old
	res, err := access.Read(r.Control.Operations, p, providers.ReadRequest{
		URN: s.Decision.URN, Name: s.Decision.URN.Name(), Type: s.Decision.Type, ID: old.ID, Inputs: old.Inputs, State: old.Outputs, Known: true,
		Timeout: old.CustomTimeouts.Value().Read, OldViews: s.Publication.OldViews(), Status: s.Publication,
	})
	var partial *providers.InitError
	if !errors.As(err, &partial) {
		return res, nil, err
	}
	r.Control.Warn(s.Decision.URN, "Refreshed resource is in an unhealthy state:\n* %s", strings.Join(partial.Reasons, "\n* "))
	return providers.ReadResponse{
		ID: partial.ID, Inputs: partial.Inputs, HasInputs: partial.HasInputs, Properties: partial.Properties,
		RefreshBeforeUpdate: partial.RefreshBeforeUpdate,
	}, partial.Reasons, nil
}

// refreshViews executes the view steps that were published while a resource was read (steps.md 9.9). Unless record is true, they
// have no record of their own but change the base with it. If the resource is gone, its views are gone too.
func (r *Reader) refreshViews(s *step.InProgress, f found, record bool) (found, error) {
	var errs []error
	steps := s.Publication.Close()
	for _, v := range steps {
		errs = append(errs, r.refreshView(v, record))
	}
	if f.known && f.now == nil {
		for i, old := range r.Rooms.ViewsOf(s.Decision) {
			d := s.Decision.ForView(stages.OpDelete)
			d.Op, d.Old, d.URN, d.Type, d.Sub = stages.OpRefresh, old, old.URN, old.Type, len(steps)+i+1
			r.Reporter.Begin(d)
			errs = append(errs, r.refreshView(&step.InProgress{Decision: d}, record))
		}
	}
	f.views = compareViews(s.Publication.Olds, r.Rooms.ViewsOf(s.Decision))
	return f, errors.Join(errs...)
}

// refreshView executes one step.
func (r *Reader) refreshView(s *step.InProgress, record bool) error {
	a := r.Views.Apply(s)
	if a.Final != nil {
		s.Made = a.Final
		r.Reporter.KeepView(a.Final)
	}
	a.Change.Add, a.Change.Refresh = a.Final, true
	if err := r.Reporter.Change(s.Decision, a.Change, record && !a.Unrecorded); err != nil {
		return r.Control.Broken(s.Decision, err)
	}
	if a.Err != nil {
		r.Reporter.EndFailed(s.Decision, s.Made, s.Shown(), a)
		return a.Err
	}
	info := s.Shown()
	if r.Rooms.Mode == stages.ModeRefresh {
		info.Op = s.Decision.View.Op
	}
	r.Reporter.EndFound(s.Decision, info)
	return nil
}

func opOf(changed bool) stages.Op {
	if changed {
		return stages.OpUpdate
	}
	return stages.OpSame
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

// foundReason returns the reason for the reported result of a refresh.
func foundReason(op stages.Op, old *state.Resource, diff providers.DiffResponse) stages.Reason {
	switch {
	case op == stages.OpDelete:
		return stages.Reason{Kind: stages.ReasonVanished, By: stages.ByRead}
	case op == stages.OpUpdate:
		return stages.Reason{Kind: stages.ReasonDrift, Properties: compare.ChangedProperties(diff), By: stages.ByRead}
	case !old.Custom || old.Type.IsProvider():
		return stages.Reason{Kind: stages.ReasonUnchanged}
	}
	return stages.Reason{Kind: stages.ReasonUnchanged, By: stages.ByRead}
}

var ErrFailed = errors.New("the refresh failed; see the errors of the resources")
