package step

import (
	"errors"
	"fmt"
	"strings"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/internal/compare"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// withProvider sets the reference of the provider in the step of an import. This import may have made the provider.
func (ex *Executor) withProvider(d *stages.Decision) *stages.Decision {
	if d.Import == nil || d.Import.Provider == "" {
		return d
	}
	maker, ok := ex.Rooms.Results.Lookup(d.Import.Provider)
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
func (ex *Executor) applyPlannedImport(s *InProgress) applied {
	q, final := s.Import, s.New.Clone()
	if ex.Rooms.Base.Olds[s.URN] != nil {
		return Failed(fmt.Errorf("resource '%v' already exists", s.URN))
	}
	if _, ok := ex.Rooms.Results.Lookup(final.Parent); !ok {
		return Failed(fmt.Errorf("unknown parent '%v' for resource '%v'", final.Parent, s.URN))
	}
	now := ex.Control.Now().UTC()
	final.Created, final.Modified = now, now
	switch {
	case q.Outputs.Len() > 0:
		final.Outputs = q.Outputs
		if final.Custom {
			final.ID = q.ID
		}
	case final.Custom:
		res, err := ex.readForImport(s, final)
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
	if err := ex.checkImported(s, final, found); err != nil {
		return Failed(err)
	}
	return applied{Final: final}
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
func (ex *Executor) checkImported(s *InProgress, final *state.Resource, found property.Map) error {
	p, err := ex.access.ProviderFor(ex.Control.Operations, final)
	if err != nil {
		return err
	}
	res, err := p.Check(ex.Control.Operations, providers.CheckRequest{
		URN: s.URN, Name: s.URN.Name(), Type: s.Type, Olds: found, News: final.Inputs, AllowUnknowns: ex.Control.DryRun(), RandomSeed: s.Import.Seed,
	})
	if err != nil || len(res.Failures) == 0 {
		return err
	}
	advice := "Try specifying a different set of properties to import with in the future."
	if len(s.Import.Properties) == 0 {
		advice = fmt.Sprintf("This is almost certainly a bug in the `%s` provider.", providerPackage(final))
	}
	ex.Control.Warn(s.URN, "One or more imported inputs failed to validate. %s The import will still proceed, but you will need to edit the "+
		"generated code after copying it into your program.", advice)
	for _, f := range res.Failures {
		code, text := compare.CheckFailure(s.URN, final.Inputs, f)
		ex.Control.Diagnose(s.URN, stages.Warning, code, text)
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
func (ex *Executor) applyImport(s *InProgress) applied {
	if s.Import != nil {
		return ex.applyPlannedImport(s)
	}
	final := s.New.Clone()
	res, err := ex.readForImport(s, final)
	if err != nil {
		return Failed(err)
	}
	if s.Reason.Kind == stages.ReasonInterrupted && s.Superseded != nil {
		if err := CheckNotOld(final.ID, s.Superseded); err != nil { // the given ID may be another form of it
			return Failed(err)
		}
	}
	final.Inputs = res.Inputs
	now := ex.Control.Now().UTC()
	final.Created, final.Modified = now, now
	a := applied{Final: final}
	if s.Superseded != nil {
		ex.Rooms.Supersede(s.Superseded, s.New, &a.Change)
	}
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
func (ex *Executor) readForImport(s *InProgress, final *state.Resource) (providers.ReadResponse, error) {
	p, err := ex.access.ProviderFor(ex.Control.Operations, final)
	if err != nil {
		return providers.ReadResponse{}, err
	}
	id := final.ImportID
	res, err := p.Read(ex.Control.Operations, providers.ReadRequest{
		URN: s.URN, Name: s.URN.Name(), Type: s.Type, ID: id, Timeout: final.CustomTimeouts.Read, Status: s.Publication,
	})
	var partial *providers.InitError
	switch {
	case errors.As(err, &partial):
		final.InitErrors = partial.Reasons
		res = providers.ReadResponse{
			ID: partial.ID, Exists: true, Inputs: partial.Inputs, HasInputs: partial.HasInputs, Properties: partial.Properties,
			RefreshBeforeUpdate: partial.RefreshBeforeUpdate,
		}
	case err != nil:
		return res, err
	}
	switch {
	case !res.Exists:
		return res, fmt.Errorf("resource '%v' does not exist", id)
	case !res.HasInputs:
		return res, fmt.Errorf("provider does not support importing resources; please try updating the '%v' plugin", s.Type.Package())
	}
	final.ID = id
	if res.ID != "" {
		final.ID = res.ID
	}
	final.Outputs, final.RefreshBeforeUpdate = res.Properties, res.RefreshBeforeUpdate
	return res, nil
}
