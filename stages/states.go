package stages

import (
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// subject is the common part of registrations and reads for lookup.
type subject struct {
	Parent  urn.URN
	Typ     urn.Type
	Name    string
	Aliases []urn.Alias
}

func (r Registered) Subject() subject {
	if r.Read != nil {
		return subject{Parent: r.Read.Parent, Typ: r.Read.Type, Name: r.Read.Name}
	}
	return subject{Parent: r.Goal.Parent, Typ: r.Goal.Type, Name: r.Goal.Name, Aliases: r.Goal.Aliases}
}

// NewState builds the state that a registration describes (steps.md 3.2). inputs are the checked ones.
func (l Located) NewState(inputs Checked) *state.Resource {
	g := l.Goal
	s := &state.Resource{
		URN: l.URN, Custom: g.Custom, Type: g.Type, Inputs: inputs.Inputs, Parent: g.Parent,
		Protect: g.IsProtected(), Dependencies: g.Dependencies, Provider: g.Provider,
		PropertyDependencies: g.PropertyDependencies, AdditionalSecretOutputs: g.AdditionalSecretOutputs,
		CustomTimeouts: g.CustomTimeouts, ImportID: g.ImportID, RetainOnDelete: g.IsRetained(),
		DeletedWith: g.DeletedWith, ReplaceWith: g.ReplaceWith, SourcePosition: g.SourcePosition, StackTrace: g.StackTrace,
		IgnoreChanges: g.IgnoreChanges, HideDiff: g.HideDiff, ReplaceOnChanges: g.ReplaceOnChanges,
		ReplacementTrigger: g.ReplacementTrigger, ResourceHooks: g.ResourceHooks, ExtensionRef: g.ExtensionRef,
	}
	if l.Alias != "" {
		s.Aliases = []urn.URN{l.Alias}
	}
	if l.Origin == FromImport {
		s.ReplacementTrigger = property.Null // as recorded by the import (steps.md 4.2)
	}
	if l.Old != nil {
		s.Created, s.Modified, s.RefreshBeforeUpdate = l.Old.Created, l.Old.Modified, l.Old.RefreshBeforeUpdate
	}
	return s
}

// Unmade returns the state of a registration or a read before anything is done.
func (l Located) Unmade(inputs Checked) *state.Resource {
	if l.Read != nil {
		return l.NewRead()
	}
	return l.NewState(inputs)
}

// NewRead returns the state of a read before it is made. If the ID is not known, it has none.
func (l Located) NewRead() *state.Resource {
	g := l.Read
	s := &state.Resource{
		URN: l.URN, Custom: true, Type: g.Type, ID: g.ID.AsString(), Inputs: g.Properties, Parent: g.Parent, External: true,
		Dependencies: g.Dependencies, Provider: g.Provider, ExtensionRef: g.ExtensionRef, AdditionalSecretOutputs: g.AdditionalSecretOutputs,
		SourcePosition: g.SourcePosition, StackTrace: g.StackTrace,
	}
	if l.Alias != "" {
		s.Aliases = []urn.URN{l.Alias}
	}
	if l.Old != nil {
		s.Created, s.Modified = l.Old.Created, l.Old.Modified
	}
	return s
}
