package step

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/internal/rooms"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// apply executes a step and returns its result (steps.md 8.1).
func (ex *Executor) apply(s *InProgress) applied {
	switch s.Op {
	case stages.OpSame:
		return ex.applySame(s)
	case stages.OpCreate, stages.OpCreateReplacement:
		return ex.applyCreate(s)
	case stages.OpUpdate:
		return ex.applyUpdate(s)
	case stages.OpDelete, stages.OpDeleteReplaced, stages.OpDiscard, stages.OpDiscardReplaced:
		return ex.applyDelete(s)
	case stages.OpRead, stages.OpReadReplacement:
		return ex.applyRead(s)
	case stages.OpRemovePendingReplace:
		return applied{Change: state.Change{Remove: ex.Rooms.Present(s.Old)}}
	case stages.OpImport, stages.OpImportReplacement:
		return ex.applyImport(s)
	case stages.OpReplace:
		return applied{}
	}
	return Failed(fmt.Errorf("there is no step %q", s.Op))
}

func Failed(err error) applied { return applied{Err: err, status: classify(err)} }

func (ex *Executor) applySame(s *InProgress) applied {
	switch {
	case s.Kind == stages.Uncreated:
		return applied{Unrecorded: true}
	case s.IsKept():
		return applied{Final: s.Old, Unrecorded: true}
	}
	final := s.New.Clone()
	final.ID, final.Outputs = s.Old.ID, s.Old.Outputs
	if final.Type.IsProvider() {
		if err := ex.access.Registry.Same(ex.Control.Operations, urn.ProviderRef{URN: s.URN, ID: s.Old.ID}, s.Old.Inputs); err != nil {
			return Failed(err)
		}
	}
	return applied{Final: final, Change: state.Change{Remove: ex.Rooms.Present(s.Old), Elide: !state.MustWrite(s.Old, final)}}
}

func (ex *Executor) applyCreate(s *InProgress) applied {
	final := s.New.Clone()
	p, err := ex.access.ProviderOfState(final)
	if err != nil {
		return Failed(err)
	}
	a := applied{Final: final}
	switch {
	case s.Kind == stages.NotCalled:
		final.Outputs = final.Inputs
	case p != nil:
		req := providers.CreateRequest{
			URN: s.URN, Name: s.URN.Name(), Type: s.Type, Properties: s.New.Inputs, Timeout: s.New.CustomTimeouts.Create, Preview: ex.Control.DryRun(),
			Status: s.Publication,
		}
		res, err := ex.caller.callCreate(p, s, req)
		var partial *providers.InitError
		switch {
		case errors.As(err, &partial):
			a.Err, a.status = err, statusPartial
			final.ID, final.Outputs, final.InitErrors = partial.ID, partial.Properties, partial.Reasons
			final.RefreshBeforeUpdate = partial.RefreshBeforeUpdate
		case err != nil:
			return Failed(err)
		default:
			final.ID, final.Outputs, final.RefreshBeforeUpdate = res.ID, res.Properties, res.RefreshBeforeUpdate
		}
	}
	now := ex.Control.Now().UTC()
	final.Created, final.Modified = now, now
	if s.Op == stages.OpCreateReplacement {
		ex.Rooms.Supersede(s.Old, s.New, &a.Change)
	}
	return a
}

func (ex *Executor) applyUpdate(s *InProgress) applied {
	final := s.New.Clone()
	final.ID, final.Outputs = s.Old.ID, s.Old.Outputs
	a := applied{Final: final, Change: state.Change{Remove: ex.Rooms.Present(s.Old)}}
	p, err := ex.access.ProviderOfState(final)
	if err != nil {
		return Failed(err)
	}
	if p == nil {
		return a
	}
	req := providers.UpdateRequest{
		URN: s.URN, Name: s.URN.Name(), Type: s.Type, ID: s.Old.ID, OldInputs: s.Old.Inputs, OldOutputs: s.Old.Outputs,
		NewInputs: s.New.Inputs, Timeout: s.New.CustomTimeouts.Update, IgnoreChanges: s.New.IgnoreChanges, Preview: ex.Control.DryRun(),
		OldViews: s.Publication.OldViews(), Status: s.Publication,
	}
	res, err := ex.caller.callUpdate(p, s, req)
	var partial *providers.InitError
	switch {
	case errors.As(err, &partial):
		a.Err, a.status = err, statusPartial
		// The old inputs stay, so that the next run sees a difference (steps.md 9.3).
		final.Inputs, final.Outputs, final.InitErrors = s.Old.Inputs, partial.Properties, partial.Reasons
		final.RefreshBeforeUpdate = partial.RefreshBeforeUpdate
	case err != nil:
		return Failed(err)
	default:
		final.Outputs, final.RefreshBeforeUpdate = res.Properties, res.RefreshBeforeUpdate
	}
	final.Modified = ex.Control.Now().UTC()
	return a
}

// applyDelete is steps.md 5.4.
func (ex *Executor) applyDelete(s *InProgress) applied {
	old := s.Old
	if reader, ok := ex.Rooms.Names.ReaderOf(old); ok {
		// The registration of the resource is reading it: the result is recorded first (steps.md ORD-3).
		if err := ex.Rooms.Progress.Await(ex.Control.Admitted, reader, rooms.Reread); err != nil {
			return Failed(err)
		}
	}
	known := ex.Rooms.Results.Current(old)
	if known == nil {
		return applied{}
	}
	var p providers.Provider
	if old.Custom && !(old.Type.IsProvider() && ex.Control.DryRun()) {
		var err error
		// Also for an object that is retained without a call: a provider that cannot be started is an error now (steps.md 5.2).
		if p, err = ex.access.ProviderAt(ex.Control.Operations, old, s.Seq); err != nil {
			return Failed(err)
		}
	}
	if (s.Op == stages.OpDelete || s.Op == stages.OpDiscard) && old.Protect && !ex.Rooms.IgnoreProtect {
		return Failed(&state.ProtectedError{URNs: []urn.URN{old.URN}, Refused: state.RefusedDelete})
	}
	if p != nil && !ex.Control.DryRun() && !ex.skipsCall(s.Decision) {
		err := ex.caller.callDelete(p, s, providers.DeleteRequest{
			URN: old.URN, Name: old.URN.Name(), Type: old.Type, ID: known.ID, Inputs: known.Inputs, Outputs: known.Outputs,
			Timeout: old.CustomTimeouts.Delete, OldViews: s.Publication.OldViews(), Status: s.Publication,
		})
		if err != nil {
			return Failed(err)
		}
	}
	now := ex.Rooms.Results.Current(old)
	if now == nil {
		return applied{}
	}
	if s.Kind == stages.DeletedFirst && now.Delete == old.Delete { // an import may have replaced it already
		waiting := now.Clone()
		waiting.Delete, waiting.PendingReplacement = false, true
		return applied{Change: state.Change{Replace: []state.Replacement{{Old: now, New: waiting}}}}
	}
	return applied{Change: state.Change{Remove: []*state.Resource{now}}}
}

// skipsCall reports whether a state is removed without a call of a provider (steps.md 5.4 item 4).
func (ex *Executor) skipsCall(d *stages.Decision) bool {
	with := d.Old.DeletedWith
	return d.Old.External || d.Retains() || with != "" && (ex.Rooms.Decisions.Has(with, rooms.Deleted) || ex.Rooms.Decisions.Has(ex.Rooms.Names.NewNameOf(with), rooms.Deleted))
}

// applyRead is steps.md 4.1.
func (ex *Executor) applyRead(s *InProgress) applied {
	final := s.New.Clone()
	a := applied{Final: final}
	if final.ID != "" { // it is unknown in this preview
		p, err := ex.access.ProviderFor(ex.Control.Operations, final)
		if err != nil {
			return Failed(err)
		}
		res, err := p.Read(ex.Control.Operations, providers.ReadRequest{
			URN: s.URN, Name: s.URN.Name(), Type: s.Type, ID: final.ID, Inputs: final.Inputs, State: final.Inputs, Known: true,
			Timeout: final.CustomTimeouts.Read, OldViews: s.Publication.OldViews(), Status: s.Publication,
		})
		var partial *providers.InitError
		switch {
		case errors.As(err, &partial):
			a.Err, a.status = err, statusPartial
			final.ID, final.Outputs, final.InitErrors = cmp.Or(partial.ID, final.ID), partial.Properties, partial.Reasons
		case err != nil:
			return Failed(err)
		case !res.Exists:
			return Failed(fmt.Errorf("resource '%s' does not exist", final.ID))
		default:
			final.ID, final.Outputs = cmp.Or(res.ID, final.ID), res.Properties
		}
	}
	if s.Old != nil && !(property.EqualMaps(s.Old.Inputs, final.Inputs) && property.EqualMaps(s.Old.Outputs, final.Outputs)) {
		final.Modified = ex.Control.Now().UTC()
	}
	if s.Op == stages.OpReadReplacement {
		ex.Rooms.Supersede(s.Old, s.New, &a.Change)
	} else if s.Old != nil {
		a.Change.Remove = ex.Rooms.Present(s.Old)
	}
	return a
}

// MarkSecrets makes outputs secret that are secret according to the program or the inputs (steps.md 3.14). It may be called on a
// state that is not published yet.
func (ex *Executor) MarkSecrets(s *state.Resource) *state.Resource {
	var out map[string]property.Value
	mark := func(name string) {
		v, ok := s.Outputs.Get(name)
		if !ok || v.IsSecret() {
			return
		}
		if out == nil {
			out = s.Outputs.Mutable()
		}
		out[name] = property.Secret(v)
	}
	for _, name := range s.AdditionalSecretOutputs {
		if name == "id" {
			ex.Control.Warn(s.URN, "The 'id' property cannot be made secret. See pulumi/pulumi#2717 for more details.")
			continue
		}
		mark(name)
	}
	for name, v := range s.Inputs.All() {
		if v.IsSecret() {
			mark(name)
		}
	}
	if out != nil {
		s.Outputs = property.NewMap(out)
	}
	return s
}
