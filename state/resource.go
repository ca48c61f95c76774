package state

import (
	"time"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/urn"
)

// Resource is the recorded state of one resource (state.md 1.6). A Resource that has been published (put into a
// snapshot, an item or an event) is immutable: change a [Resource.Clone] instead. Two resources are the same entry of
// a snapshot if and only if their pointers are equal: during a replacement one URN has two entries.
type Resource struct {
	URN                     urn.URN
	Custom                  bool // managed by a plugin; false for components
	Delete                  bool // an old copy that awaits deletion after a create-before-delete replacement
	ID                      string
	Type                    urn.Type
	Inputs                  property.Map // as returned by Check
	Outputs                 property.Map
	Parent                  urn.URN
	Protect                 bool
	Taint                   bool
	External                bool // read, never deleted
	Dependencies            []urn.URN
	InitErrors              []string
	Provider                string // "<URN>::<ID>" of the provider resource
	PropertyDependencies    map[string][]urn.URN
	PendingReplacement      bool // deleted by a delete-before-replace whose create is still to come
	AdditionalSecretOutputs []string
	Aliases                 []urn.URN // in memory only: the old URN that matched (steps.md 2.6)
	CustomTimeouts          Timeouts
	ImportID                string
	RetainOnDelete          bool
	DeletedWith             urn.URN
	ReplaceWith             []urn.URN
	Created                 time.Time // zero when unknown
	Modified                time.Time // zero when unknown
	SourcePosition          string
	StackTrace              []StackFrame
	IgnoreChanges           []string
	HideDiff                []string
	ReplaceOnChanges        []string
	ReplacementTrigger      property.Value
	RefreshBeforeUpdate     bool
	ViewOf                  urn.URN
	ResourceHooks           map[string][]string
	ExtensionRef            string
	SnippetID               string
}

// Timeouts are the customTimeouts of a resource in seconds; 0 means the provider's default.
type Timeouts struct{ Create, Update, Delete, Read float64 }

// StackFrame is one frame of the program's stack at a registration.
type StackFrame struct{ SourcePosition string }

// Clone returns a shallow copy: its slices and maps are shared with r and must be replaced, not changed.
func (r *Resource) Clone() *Resource {
	c := *r
	return &c
}
