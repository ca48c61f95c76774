package query

import (
	"time"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// Stack names the stack that a question is about.
type Stack struct{ Organization, Project, Name string }

// Provider is what a state says of the provider of a resource. A provider resource is its own provider. Both are "" if there is none, and the version if
// it is not recorded.
type Provider struct{ Package, Version string }

// recordedProviders are the provider resources of a state, by their references.
type recordedProviders map[string]Provider

func providersOf(s *state.Snapshot) recordedProviders {
	found := recordedProviders{}
	for _, r := range s.Resources {
		if r.Type.IsProvider() {
			found[urn.ProviderRef{URN: r.URN, ID: r.ID}.String()] = providerOf(r)
		}
	}
	return found
}

// providerOf describes a provider resource. Of a parameterized provider, it is the package that it serves.
func providerOf(r *state.Resource) Provider {
	p := Provider{Package: r.Type.ProviderPackage()}
	if spec, err := providers.SpecFromInputs(r.Type, r.Inputs); err == nil {
		p.Version = spec.Version
	}
	return p
}

func (known recordedProviders) of(r *state.Resource) Provider {
	if r.Type.IsProvider() {
		return providerOf(r)
	}
	if p, ok := known[r.Provider]; ok {
		return p
	}
	at, err := urn.ParseProviderRef(r.Provider)
	if err != nil {
		return Provider{}
	}
	return Provider{Package: at.Package()}
}

// subject is the resource that an expression is evaluated for. Its values are made when the expression reads them.
type subject struct {
	stack       Stack
	resource    *state.Resource
	provider    Provider
	showSecrets bool
	variables   map[string]variable // by name
}

// variable is a name in expressions.
type variable struct {
	name  string
	kind  *cel.Type
	value func(s *subject) any
}

// named lists the variables of expressions.
func named() []variable {
	text := func(name string, value func(s *subject) string) variable {
		return variable{name, cel.StringType, func(s *subject) any { return value(s) }}
	}
	flag := func(name string, value func(r *state.Resource) bool) variable {
		return variable{name, cel.BoolType, func(s *subject) any { return value(s.resource) }}
	}
	list := func(name string, value func(r *state.Resource) []string) variable {
		return variable{name, cel.ListType(cel.StringType), func(s *subject) any { return value(s.resource) }}
	}
	properties := func(name string, value func(r *state.Resource) property.Map) variable {
		return variable{name, cel.MapType(cel.StringType, cel.DynType), func(s *subject) any {
			return objectOf(value(s.resource).WithoutInternal(), s.showSecrets)
		}}
	}
	moment := func(name string, value func(r *state.Resource) time.Time) variable {
		return variable{name, cel.TimestampType, func(s *subject) any {
			if t := value(s.resource); !t.IsZero() {
				return t
			}
			return unrecorded()
		}}
	}
	return []variable{
		text("stack", func(s *subject) string { return s.stack.Name }),
		text("project", func(s *subject) string { return s.stack.Project }),
		text("organization", func(s *subject) string { return s.stack.Organization }),
		text("urn", func(s *subject) string { return string(s.resource.URN) }),
		text("type", func(s *subject) string { return string(s.resource.Type) }),
		text("name", func(s *subject) string { return s.resource.URN.Name() }),
		text("id", func(s *subject) string { return s.resource.ID }),
		text("parent", func(s *subject) string { return string(s.resource.Parent) }),
		text("provider", func(s *subject) string { return s.resource.Provider }),
		text("providerPackage", func(s *subject) string { return s.provider.Package }),
		text("providerVersion", func(s *subject) string { return s.provider.Version }),
		text("importID", func(s *subject) string { return s.resource.ImportID }),
		text("deletedWith", func(s *subject) string { return string(s.resource.DeletedWith) }),
		text("viewOf", func(s *subject) string { return string(s.resource.ViewOf) }),
		text("sourcePosition", func(s *subject) string { return s.resource.SourcePosition }),
		flag("custom", func(r *state.Resource) bool { return r.Custom }),
		flag("external", func(r *state.Resource) bool { return r.External }),
		flag("protect", func(r *state.Resource) bool { return r.Protect }),
		flag("retainOnDelete", func(r *state.Resource) bool { return r.RetainOnDelete }),
		flag("taint", func(r *state.Resource) bool { return r.Taint }),
		flag("pendingDelete", func(r *state.Resource) bool { return r.Delete }),
		flag("pendingReplacement", func(r *state.Resource) bool { return r.PendingReplacement }),
		list("dependencies", func(r *state.Resource) []string { return urn.Strings(r.Dependencies) }),
		list("replaceWith", func(r *state.Resource) []string { return urn.Strings(r.ReplaceWith) }),
		list("ignoreChanges", func(r *state.Resource) []string { return r.IgnoreChanges }),
		list("initErrors", func(r *state.Resource) []string { return r.InitErrors }),
		{"propertyDependencies", cel.MapType(cel.StringType, cel.ListType(cel.StringType)), func(s *subject) any {
			out := make(map[string][]string, len(s.resource.PropertyDependencies))
			for name, on := range s.resource.PropertyDependencies {
				out[name] = urn.Strings(on)
			}
			return out
		}},
		properties("inputs", func(r *state.Resource) property.Map { return r.Inputs }),
		properties("outputs", func(r *state.Resource) property.Map { return r.Outputs }),
		moment("created", func(r *state.Resource) time.Time { return r.Created }),
		moment("modified", func(r *state.Resource) time.Time { return r.Modified }),
	}
}

// ResolveName implements [cel.Activation].
func (s *subject) ResolveName(name string) (any, bool) {
	v, is := s.variables[name]
	if !is {
		return nil, false
	}
	return v.value(s), true
}

// Parent implements [cel.Activation].
func (s *subject) Parent() cel.Activation { return nil }

// The kinds of values that an expression cannot compute with. They are the numbers of CEL's unknown values.
const (
	secretKind     = -1
	unknownKind    = -2
	unrecordedKind = -3
)

func unrecorded() *types.Unknown { return types.NewUnknown(unrecordedKind, nil) }
