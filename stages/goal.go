package stages

import (
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// Goal is the desired state that one registration carries, complete: inheritance, transforms and the choice of a
// provider are done ([steps.md 1.1]). It is immutable.
//
// [steps.md 1.1]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/steps.md#11-fields
type Goal struct {
	Type   urn.Type
	Name   string
	Custom bool
	Parent urn.URN
	// Inputs are the program's properties before Check, without output values.
	Inputs                  property.Map
	Protect                 *bool
	Dependencies            []urn.URN
	PropertyDependencies    map[string][]urn.URN
	Provider                string
	DeleteBeforeReplace     *bool
	IgnoreChanges           []string
	HideDiff                []string
	ReplaceOnChanges        []string
	ReplacementTrigger      property.Value
	AdditionalSecretOutputs []string
	Aliases                 []urn.Alias
	ImportID                string
	CustomTimeouts          state.RecordedTimeouts
	RetainOnDelete          *bool
	DeletedWith             urn.URN
	ReplaceWith             []urn.URN
	ResourceHooks           map[string][]string
	ExtensionRef            string // of the extension that the provider needs before the resource (steps.md 1.8)
	SourcePosition          string
	Ordinal                 int // see [Ordered]; not recorded
	StackTrace              []state.StackFrame
}

// IsProtected reports whether the program protects the resource.
func (g *Goal) IsProtected() bool { return g.Protect != nil && *g.Protect }

// IsRetained reports whether the object is retained when the resource is deleted.
func (g *Goal) IsRetained() bool { return g.RetainOnDelete != nil && *g.RetainOnDelete }

// Mode defines what a run does with the resources that its program declares.
type Mode int

// The modes.
const (
	// ModeUpdate makes them what the program declares and deletes the rest.
	ModeUpdate Mode = iota
	// ModeRefresh records their present state (steps.md 7.4). Only components and providers are made what the program declares, so
	// that resources are read with the configuration that the program gives their providers.
	ModeRefresh
	// ModeDestroy deletes them, and all others (steps.md 7.5). Before, components and providers are made what the program declares,
	// so that resources are deleted with that configuration. Without a program nothing is declared.
	ModeDestroy
)

// IsManaged reports whether a provider manages the resource of a goal: it is no component, and no provider itself.
func (g *Goal) IsManaged() bool { return g.Custom && !g.Type.IsProvider() }
