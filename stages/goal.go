package stages

import (
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// Goal is the desired state that one registration carries, complete: inheritance, transforms and the choice of a
// provider are done (steps.md 1.1). It is immutable.
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
	CustomTimeouts          state.Timeouts
	RetainOnDelete          *bool
	DeletedWith             urn.URN
	ReplaceWith             []urn.URN
	ResourceHooks           map[string][]string
	ExtensionRef            string // of the extension that its provider needs first (steps.md 1.8)
	SourcePosition          string
	StackTrace              []state.StackFrame
}

// IsProtected reports whether the program protects the resource.
func (g *Goal) IsProtected() bool { return g.Protect != nil && *g.Protect }

// IsRetained reports whether the object is retained when the resource is deleted.
func (g *Goal) IsRetained() bool { return g.RetainOnDelete != nil && *g.RetainOnDelete }

// Mode is what a run does with the resources that its program declares.
type Mode int

// The modes.
const (
	// ModeUpdate makes them what the program declares and deletes the rest.
	ModeUpdate Mode = iota
	// ModeRefresh records what they are (steps.md 7.4). Components and providers alone are made what the program declares,
	// so that resources are read with the configuration that the program gives their providers.
	ModeRefresh
	// ModeDestroy deletes them, and the rest (steps.md 7.5). Components and providers are made what the program declares
	// before, for the same reason. Without a program nothing is declared.
	ModeDestroy
)

// IsManaged reports whether a goal is that of a resource which a provider manages: no component, and no provider itself.
func (g *Goal) IsManaged() bool { return g.Custom && !g.Type.IsProvider() }
