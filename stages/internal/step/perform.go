package step

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/internal/access"
	"github.com/sluice-iac/sluice/stages/internal/compare"
	"github.com/sluice-iac/sluice/stages/internal/control"
	"github.com/sluice-iac/sluice/stages/internal/rooms"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// performer carries out the steps of resources: it calls their providers and returns the results.
type performer struct {
	control *control.Control
	rooms   *rooms.Rooms
	access  *access.Access
	caller  *caller
}

// apply executes a step and returns its result (steps.md 8.1).
func (pf *performer) apply(s *InProgress) applied {
	d := s.Decision
	switch d.Op {
	case stages.OpSame:
		return pf.applySame(s)
	case stages.OpCreate, stages.OpCreateReplacement:
		return pf.applyCreate(s)
	case stages.OpUpdate:
		return pf.applyUpdate(s)
	case stages.OpDelete, stages.OpDeleteReplaced, stages.OpDiscard, stages.OpDiscardReplaced:
		return pf.applyDelete(s)
	case stages.OpRead, stages.OpReadReplacement:
		return pf.applyRead(s)
	case stages.OpRemovePendingReplace:
		return applied{Change: state.Change{Remove: pf.rooms.Present(d.Old)}}
	case stages.OpImport, stages.OpImportReplacement:
		return pf.applyImport(s)
	case stages.OpReplace:
		return applied{Unrecorded: true}
	}
	return Failed(fmt.Errorf("there is no step %q", d.Op))
}

// Failed returns the result of a step that has failed.
func Failed(err error) applied { return applied{Err: err, status: classify(err)} }

func (pf *performer) applySame(s *InProgress) applied {
	d := s.Decision
	switch {
	case d.Kind == stages.Uncreated:
		return applied{Unrecorded: true}
	case d.IsKept():
		return applied{Final: d.Old, Unrecorded: true}
	}
	final := d.New.Clone()
	final.ID, final.Outputs = d.Old.ID, d.Old.Outputs
	if final.Type.IsProvider() {
		if err := pf.access.Registry.Same(pf.control.Operations, urn.ProviderRef{URN: d.URN, ID: d.Old.ID}, d.Old.Inputs); err != nil {
			return Failed(err)
		}
	}
	return applied{Final: final, Change: state.Change{Remove: pf.rooms.Present(d.Old), Elide: !state.MustWrite(d.Old, final)}}
}

func (pf *performer) applyCreate(s *InProgress) applied {
	d := s.Decision
	final := d.New.Clone()
	p, err := pf.access.ProviderOfState(final)
	if err != nil {
		return Failed(err)
	}
	a := applied{Final: final}
	switch {
	case d.Kind == stages.NotCalled:
		final.Outputs = final.Inputs
	case p != nil:
		req := providers.CreateRequest{
			URN: d.URN, Name: d.URN.Name(), Type: d.Type, Properties: d.New.Inputs, Timeout: d.New.CustomTimeouts.Value().Create, Preview: pf.control.DryRun(),
			Status: s.Publication,
		}
		res, err := pf.caller.callCreate(p, s, req)
		var partial *providers.InitError
		switch {
		case errors.As(err, &partial):
			a.Err, a.status = err, providers.ViewPartialFailure
			final.ID, final.Outputs, final.InitErrors = partial.ID, partial.Properties, partial.Reasons
			final.RefreshBeforeUpdate = partial.RefreshBeforeUpdate
		case err != nil:
			return Failed(err)
		default:
			final.ID, final.Outputs, final.RefreshBeforeUpdate = res.ID, res.Properties, res.RefreshBeforeUpdate
		}
	}
	now := pf.control.Now().UTC()
	final.Created, final.Modified = now, now
	if d.Op == stages.OpCreateReplacement {
		pf.rooms.Supersede(d.Old, d.New, &a.Change)
	}
	return a
}

func (pf *performer) applyUpdate(s *InProgress) applied {
	d := s.Decision
	final := d.New.Clone()
	final.ID, final.Outputs = d.Old.ID, d.Old.Outputs
	a := applied{Final: final, Change: state.Change{Remove: pf.rooms.Present(d.Old)}}
	p, err := pf.access.ProviderOfState(final)
	if err != nil {
		return Failed(err)
	}
	if p == nil {
		return a
	}
	req := providers.UpdateRequest{
		URN: d.URN, Name: d.URN.Name(), Type: d.Type, ID: d.Old.ID, OldInputs: d.Old.Inputs, OldOutputs: d.Old.Outputs,
		NewInputs: d.New.Inputs, Timeout: d.New.CustomTimeouts.Value().Update, IgnoreChanges: d.New.IgnoreChanges, Preview: pf.control.DryRun(),
		OldViews: s.Publication.OldViews(), Status: s.Publication,
	}
	res, err := pf.caller.callUpdate(p, s, req)
	var partial *providers.InitError
	switch {
	case errors.As(err, &partial):
		a.Err, a.status = err, providers.ViewPartialFailure
		// The old inputs stay, so that the next run sees a difference (steps.md 9.3).
		final.Inputs, final.Outputs, final.InitErrors = d.Old.Inputs, partial.Properties, partial.Reasons
		final.RefreshBeforeUpdate = partial.RefreshBeforeUpdate
	case err != nil:
		return Failed(err)
	default:
		final.Outputs, final.RefreshBeforeUpdate = res.Properties, res.RefreshBeforeUpdate
	}
	final.Modified = pf.control.Now().UTC()
	return a
}

// applyDelete is steps.md 5.4.
func (pf *performer) applyDelete(s *InProgress) applied {
	d := s.Decision
	old := d.Old
	if reader, ok := pf.rooms.Names.ReaderOf(old); ok {
		// The registration of the resource is reading it: the result is recorded first (steps.md ORD-3). No read waits for a step.
		if err := pf.rooms.Progress.Await(pf.control.Admitted, reader, rooms.Reread); err != nil {
			return Failed(err)
		}
	}
	known := pf.rooms.Results.Current(old)
	if known == nil {
		return applied{}
	}
	var p providers.Provider
	if old.Custom && !(old.Type.IsProvider() && pf.control.DryRun()) {
		var err error
		// Also for an object that is retained without a call: a provider that cannot be started is an error now (steps.md 5.2).
		if p, err = pf.access.ProviderAt(pf.control.Operations, old, d.Seq); err != nil {
			return Failed(err)
		}
	}
	if (d.Op == stages.OpDelete || d.Op == stages.OpDiscard) && old.Protect && !pf.rooms.IgnoreProtect {
		return Failed(&state.ProtectedError{URNs: []urn.URN{old.URN}, Refused: state.RefusedDelete})
	}
	if p != nil && !pf.control.DryRun() && !pf.skipsCall(d) {
		err := pf.caller.callDelete(p, s, providers.DeleteRequest{
			URN: old.URN, Name: old.URN.Name(), Type: old.Type, ID: known.ID, Inputs: known.Inputs, Outputs: known.Outputs,
			Successor: pf.successor(known), Timeout: old.CustomTimeouts.Value().Delete, OldViews: s.Publication.OldViews(), Status: s.Publication,
		})
		if err != nil {
			return Failed(err)
		}
	}
	now := pf.rooms.Results.Current(old)
	if now == nil {
		return applied{}
	}
	if d.Kind == stages.DeletedFirst && now.Delete == old.Delete { // an import may have replaced it already
		waiting := now.Clone()
		waiting.Delete, waiting.PendingReplacement = false, true
		return applied{Change: state.Change{Replace: []state.Replacement{{Old: now, New: waiting}}}}
	}
	return applied{Change: state.Change{Remove: []*state.Resource{now}}}
}

// successor returns the outputs of the object that has replaced an old copy, in this run or an earlier one. They are empty for what is no old copy.
func (pf *performer) successor(old *state.Resource) property.Map {
	if !old.Delete {
		return property.Map{}
	}
	u := pf.rooms.Names.NewNameOf(old.URN)
	now := pf.rooms.Results.Made(u)
	if now == nil {
		now = pf.rooms.Results.Current(pf.rooms.Base.Olds[u])
	}
	if now == nil || now.PendingReplacement {
		return property.Map{}
	}
	return now.Outputs
}

// skipsCall reports whether a state is removed without a call of a provider (steps.md 5.4 item 4).
func (pf *performer) skipsCall(d *stages.Decision) bool {
	with := d.Old.DeletedWith
	return d.Old.External || d.Retains() || with != "" && pf.isDeleted(with)
}

// isDeleted reports whether a resource is deleted, now or later. What a closure deletes counts as replaced once it has been registered again.
func (pf *performer) isDeleted(u urn.URN) bool {
	o := pf.rooms.Decisions
	return o.Has(u, rooms.Deleted) || o.Has(pf.rooms.Names.NewNameOf(u), rooms.Deleted) || o.IsDeletedByClosure(pf.rooms.Base.Olds[u])
}

// applyRead is steps.md 4.1.
func (pf *performer) applyRead(s *InProgress) applied {
	d := s.Decision
	final := d.New.Clone()
	a := applied{Final: final}
	if final.ID != "" { // it is unknown in this preview
		p, err := pf.access.ProviderFor(pf.control.Operations, final)
		if err != nil {
			return Failed(err)
		}
		res, err := p.Read(pf.control.Operations, providers.ReadRequest{
			URN: d.URN, Name: d.URN.Name(), Type: d.Type, ID: final.ID, Inputs: final.Inputs, State: final.Inputs, Known: true,
			Timeout: final.CustomTimeouts.Value().Read, OldViews: s.Publication.OldViews(), Status: s.Publication,
		})
		var partial *providers.InitError
		switch {
		case errors.As(err, &partial):
			a.Err, a.status = err, providers.ViewPartialFailure
			final.ID, final.Outputs, final.InitErrors = partial.ID, partial.Properties, partial.Reasons
		case err != nil:
			return Failed(err)
		case res.Absent:
			return Failed(fmt.Errorf("resource '%s' does not exist", final.ID))
		default:
			final.ID, final.Outputs = cmp.Or(res.ID, final.ID), res.Properties
		}
	}
	if d.Old != nil && !(property.EqualMaps(d.Old.Inputs, final.Inputs) && property.EqualMaps(d.Old.Outputs, final.Outputs)) {
		final.Modified = pf.control.Now().UTC()
	}
	if d.Op == stages.OpReadReplacement {
		pf.rooms.Supersede(d.Old, d.New, &a.Change)
	} else if d.Old != nil {
		a.Change.Remove = pf.rooms.Present(d.Old)
	}
	return a
}

// withProvider sets the reference of the provider in the step of an import. This import may have made the provider.
func (pf *performer) withProvider(d *stages.Decision) *stages.Decision {
	if d.Import == nil || d.Import.Provider == "" {
		return d
	}
	maker, ok := pf.rooms.Results.Lookup(d.Import.Provider)
	if !ok {
		return d
	}
	known := *d
	known.New = d.New.Clone()
	known.New.Provider = urn.ProviderRef{URN: maker.URN, ID: maker.ID}.String()
	known.Provider = known.New.Provider
	return &known
}

// applyPlannedImport records an object as the import command found it (steps.md 4.4 "Planned import step").
func (pf *performer) applyPlannedImport(s *InProgress) applied {
	d := s.Decision
	q, final := d.Import, d.New.Clone()
	if pf.rooms.Base.Olds[d.URN] != nil {
		return Failed(fmt.Errorf("resource '%v' already exists", d.URN))
	}
	if _, ok := pf.rooms.Results.Lookup(final.Parent); !ok {
		return Failed(fmt.Errorf("unknown parent '%v' for resource '%v'", final.Parent, d.URN))
	}
	now := pf.control.Now().UTC()
	final.Created, final.Modified = now, now
	switch {
	case q.Outputs.Len() > 0:
		final.Outputs = q.Outputs
		if final.Custom {
			final.ID = q.ID
		}
	case final.Custom:
		res, err := pf.readForImport(s, final)
		if err != nil {
			return Failed(err)
		}
		final.Inputs = withSupplied(res.Inputs, q.Inputs)
	}
	// The declaration that users will write does not mention an import.
	final.ImportID = ""
	if !final.Custom {
		return applied{Final: final}
	}
	found := final.Inputs
	final.Inputs = onlyProperties(found, q.Properties)
	if err := pf.checkImported(s, final, found); err != nil {
		return Failed(err)
	}
	a := applied{Final: final}
	pf.rooms.TakeOver(final, &a.Change)
	return a
}

// withSupplied adds the values that the user has supplied to those that a provider reports. The provider takes precedence, except
// where it reports nothing. A value that was given as a secret stays secret.
func withSupplied(found, supplied property.Map) property.Map {
	for name, v := range supplied.All() {
		have, ok := found.Get(name)
		switch {
		case !ok || have.IsNull():
			found = found.With(name, v)
		case v.IsSecret() && !have.IsSecret():
			found = found.With(name, property.Secret(have))
		}
	}
	return found
}

// onlyProperties keeps the named inputs; no names keep all.
func onlyProperties(inputs property.Map, names []string) property.Map {
	if len(names) == 0 {
		return inputs
	}
	kept := map[string]property.Value{}
	for _, name := range names {
		if v, ok := inputs.Get(name); ok {
			kept[name] = v
		}
	}
	return property.NewMap(kept)
}

// checkImported calls Check with the inputs that are recorded. A refusal is a warning: the object exists.
func (pf *performer) checkImported(s *InProgress, final *state.Resource, found property.Map) error {
	d := s.Decision
	p, err := pf.access.ProviderFor(pf.control.Operations, final)
	if err != nil {
		return err
	}
	res, err := p.Check(pf.control.Operations, providers.CheckRequest{
		URN: d.URN, Name: d.URN.Name(), Type: d.Type, Olds: found, News: final.Inputs, AllowUnknowns: pf.control.DryRun(), RandomSeed: d.Import.Seed,
	})
	if err != nil || len(res.Failures) == 0 {
		return err
	}
	advice := "Try specifying a different set of properties to import with in the future."
	switch pkg := providerPackage(final); {
	case len(d.Import.Properties) > 0:
	case pkg == stages.BuiltinPackage: // its objects exist in the state only, so that there is nothing to read
		advice = "Nothing is known of these inputs: set them in your program."
	default:
		advice = fmt.Sprintf("This is almost certainly a bug in the `%s` provider.", pkg)
	}
	pf.control.Warn(d.URN, "One or more imported inputs failed to validate. %s The import will still proceed, but you will need to edit the "+
		"generated code after copying it into your program.", advice)
	for _, f := range res.Failures {
		code, text := compare.CheckFailure(d.URN, final.Inputs, f)
		pf.control.Diagnose(d.URN, stages.Warning, code, text)
	}
	return nil
}

// providerPackage names the package of a state's provider.
func providerPackage(s *state.Resource) string {
	ref, err := urn.ParseProviderRef(s.Provider)
	if err != nil {
		return strings.TrimSpace(s.Type.Package())
	}
	return ref.Package()
}

// applyImport records the object.
func (pf *performer) applyImport(s *InProgress) applied {
	d := s.Decision
	if d.Import != nil {
		return pf.applyPlannedImport(s)
	}
	final := d.New.Clone()
	res, err := pf.readForImport(s, final)
	if err != nil {
		return Failed(err)
	}
	if d.Reason.Kind == stages.ReasonInterrupted && d.Superseded != nil {
		if err := CheckNotOld(final.ID, d.Superseded); err != nil { // the given ID may be another form of it
			return Failed(err)
		}
	}
	final.Inputs = res.Inputs
	now := pf.control.Now().UTC()
	final.Created, final.Modified = now, now
	a := applied{Final: final}
	if d.Superseded != nil {
		by := d.New
		if rooms.IsObjectOf(d.Superseded, final) { // the given ID is another form of it
			by = by.Clone()
			by.RetainOnDelete = true
		}
		pf.rooms.Supersede(d.Superseded, by, &a.Change)
	}
	pf.rooms.TakeOver(final, &a.Change)
	return a
}

// CheckNotOld refuses to record an object that is recorded already as the one that an interrupted create was to replace: the next
// update would delete it.
func CheckNotOld(id string, old *state.Resource) error {
	if old.PendingReplacement || old.ID != id {
		return nil
	}
	is := "the object that was to be replaced"
	if old.Delete {
		is = "an old object that awaits its deletion"
	}
	return fmt.Errorf("%s is %s, and is recorded already: the interrupted create of %s has not made it; "+
		"name the object that it has made, or clear the pending create if there is none", id, is, old.URN)
}

// readForImport reads the object that a state names by its import ID, and sets the result in the state, all but the inputs.
func (pf *performer) readForImport(s *InProgress, final *state.Resource) (providers.ReadResponse, error) {
	d := s.Decision
	p, err := pf.access.ProviderFor(pf.control.Operations, final)
	if err != nil {
		return providers.ReadResponse{}, err
	}
	id := final.ImportID
	res, err := p.Read(pf.control.Operations, providers.ReadRequest{
		URN: d.URN, Name: d.URN.Name(), Type: d.Type, ID: id, Timeout: final.CustomTimeouts.Value().Read, Status: s.Publication,
	})
	var partial *providers.InitError
	switch {
	case errors.As(err, &partial):
		final.InitErrors = partial.Reasons
		res = providers.ReadResponse{
			ID: partial.ID, Inputs: partial.Inputs, HasInputs: partial.HasInputs, Properties: partial.Properties,
			RefreshBeforeUpdate: partial.RefreshBeforeUpdate,
		}
	case err != nil:
		return res, err
	}
	switch {
	case res.Absent:
		return res, fmt.Errorf("resource '%v' does not exist", id)
	case !res.HasInputs:
		return res, fmt.Errorf("provider does not support importing resources; please try updating the '%v' plugin", d.Type.Package())
	}
	final.ID = id
	if res.ID != "" {
		final.ID = res.ID
	}
	final.Outputs, final.RefreshBeforeUpdate = res.Properties, res.RefreshBeforeUpdate
	return res, nil
}
