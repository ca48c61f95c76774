package why

import (
	"encoding/json"
	"slices"

	"github.com/sluice-iac/sluice/graph"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// options describes changed options.
func (e *evidence) options(names []string) {
	s, d := e.step, e.decision
	if s.Old == nil || s.Wanted == nil {
		return
	}
	for _, name := range names {
		c := Change{Path: name, Old: e.optionOf(s.Old, name), New: e.optionOf(s.Wanted, name), Origin: FromProgram}
		if name == "replacementTrigger" && (s.Old.ReplacementTrigger.HasSecrets() || s.Wanted.ReplacementTrigger.HasSecrets()) {
			c.Old, c.New = encoded(secretText), encoded(secretText)
		}
		if ref, err := urn.ParseProviderRef(s.Wanted.Provider); name == "provider" && err == nil && e.hasChanged(ref.URN) {
			c.Origin, c.From = FromResource, []urn.URN{ref.URN}
			e.causedBy(ref.URN)
		} else {
			e.root(RootProgram)
		}
		d.Options = append(d.Options, c)
	}
}

// optionOf returns the value of an option as JSON, nil if it is not set.
func (v Viewer) optionOf(r *state.Resource, name string) json.RawMessage {
	switch name {
	case "additionalSecretOutputs":
		return v.textsOf(r.AdditionalSecretOutputs)
	case "deletedWith":
		return v.textOf(string(r.DeletedWith))
	case "dependencies":
		return v.textsOf(dependenciesOf(r))
	case "hideDiffs":
		return v.textsOf(r.HideDiff)
	case "ignoreChanges":
		return v.textsOf(r.IgnoreChanges)
	case "import":
		return v.textOf(r.ImportID)
	case "name":
		return v.textOf(string(r.URN))
	case "parent":
		return v.textOf(string(r.Parent))
	case "protect":
		return encoded(r.Protect)
	case "provider":
		return v.textOf(r.Provider)
	case "replaceOnChanges":
		return v.textsOf(r.ReplaceOnChanges)
	case "replaceWith":
		return v.textsOf(namesOf(r.ReplaceWith))
	case "replacementTrigger":
		return v.shown(r.ReplacementTrigger)
	case "retainOnDelete":
		return encoded(r.RetainOnDelete)
	}
	return nil
}

func (v Viewer) textOf(s string) json.RawMessage {
	if s == "" {
		return nil
	}
	return encoded(v.text(s))
}

func (v Viewer) textsOf(list []string) json.RawMessage {
	if len(list) == 0 {
		return nil
	}
	out := make([]property.Value, len(list))
	for i, s := range list {
		out[i] = property.String(s)
	}
	return v.shown(property.ArrayOf(out...))
}

func namesOf(us []urn.URN) []string {
	out := make([]string, len(us))
	for i, u := range us {
		out[i] = string(u)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// dependenciesOf lists all dependencies that the program declares for a state, of any property or none.
func dependenciesOf(r *state.Resource) []string {
	var us []urn.URN
	for ref := range r.References() {
		if ref.Kind == graph.Dependency || ref.Kind == graph.PropertyDependency {
			us = append(us, ref.URN)
		}
	}
	return namesOf(us)
}
