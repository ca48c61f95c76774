package state

import (
	"iter"
	"slices"
	"time"

	"github.com/sluice-iac/sluice/graph"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/urn"
)

// Resource is the recorded state of one resource ([state.md 1.6]). A Resource that has been published (put into a
// snapshot, an item or an event) is immutable: change a [Resource.Clone] instead. Two resources are the same entry of
// a snapshot if and only if their pointers are equal: during a replacement one URN has two entries.
//
// [state.md 1.6]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/state.md#16-resource
type Resource struct {
	URN    urn.URN
	Type   urn.Type
	ID     string
	Custom bool // managed by a plugin; false for components
	Delete bool // an old copy that awaits deletion after a create-before-delete replacement

	Protect             bool
	Taint               bool
	External            bool // read, never deleted
	PendingReplacement  bool // deleted by a delete-before-replace whose create is still to come
	RetainOnDelete      bool
	RefreshBeforeUpdate bool

	Inputs                  property.Map // as returned by Check
	Outputs                 property.Map
	Parent                  urn.URN
	Dependencies            []urn.URN
	PropertyDependencies    map[string][]urn.URN
	InitErrors              []string
	Provider                string // "<URN>::<ID>" of the provider resource
	AdditionalSecretOutputs []string
	Aliases                 []urn.URN // in memory only: the old URN that matched (steps.md 2.6)
	CustomTimeouts          RecordedTimeouts
	ImportID                string
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
	ViewOf                  urn.URN
	ResourceHooks           map[string][]string
	ExtensionRef            string
	SnippetID               string
}

// Timeouts are the customTimeouts of a resource in seconds; 0 means the provider's default.
type Timeouts struct{ Create, Update, Delete, Read float64 }

// Record returns t as records of resources have it.
func (t Timeouts) Record() RecordedTimeouts {
	if t == (Timeouts{}) {
		return RecordedTimeouts{}
	}
	return RecordedTimeouts{set: &t}
}

// RecordedTimeouts are the timeouts of a resource in the size of a pointer, because few have any. The zero value has none. To compare
// them, compare their values.
type RecordedTimeouts struct {
	_   [0]func() // not comparable
	set *Timeouts
}

// Value returns the timeouts.
func (r RecordedTimeouts) Value() Timeouts {
	if r.set == nil {
		return Timeouts{}
	}
	return *r.set
}

// StackFrame is one frame of the program's stack at a registration.
type StackFrame struct{ SourcePosition string }

// Clone returns a shallow copy: its slices and maps are shared with r and must be replaced, not changed.
func (r *Resource) Clone() *Resource {
	c := *r
	return &c
}

// upgrade brings a resource of version 2 or older up to date: every input depends on all dependencies (state.md 1.16).
func (r *Resource) upgrade() {
	if r.Inputs.Len() == 0 || len(r.PropertyDependencies) > 0 {
		return
	}
	r.PropertyDependencies = make(map[string][]urn.URN, r.Inputs.Len())
	for name := range r.Inputs.All() {
		r.PropertyDependencies[name] = r.Dependencies
	}
}

// References returns all references of r ([steps.md 0.1], "all dependencies"): its provider, its parent, its dependencies,
// those of its properties by the properties' names, the resource that it is deleted with, and those that it is replaced
// with. A provider reference that cannot be read is left out.
//
// [steps.md 0.1]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/steps.md#01-entities
func (r *Resource) References() iter.Seq[Reference] {
	return func(yield func(Reference) bool) {
		if r.Provider != "" {
			if ref, err := urn.ParseProviderRef(r.Provider); err == nil && !yield(Reference{URN: ref.URN, Kind: graph.Provider}) {
				return
			}
		}
		r.eachByURN(yield)
	}
}

// byURN returns the references of r that are only a URN: all of [Resource.References] but the provider.
func (r *Resource) byURN() iter.Seq[Reference] {
	return func(yield func(Reference) bool) { r.eachByURN(yield) }
}

func (r *Resource) eachByURN(yield func(Reference) bool) {
	if r.Parent != "" && !yield(Reference{URN: r.Parent, Kind: graph.Parent}) {
		return
	}
	for _, d := range r.Dependencies {
		if !yield(Reference{URN: d, Kind: graph.Dependency}) {
			return
		}
	}
	if !r.eachOfProperties(yield) {
		return
	}
	if r.DeletedWith != "" && !yield(Reference{URN: r.DeletedWith, Kind: graph.DeletedWith}) {
		return
	}
	for _, d := range r.ReplaceWith {
		if !yield(Reference{URN: d, Kind: graph.ReplaceWith}) {
			return
		}
	}
}

func (r *Resource) eachOfProperties(yield func(Reference) bool) bool {
	var few [8]string // saves an allocation for most resources
	names := few[:0]
	for name := range r.PropertyDependencies {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		for _, d := range r.PropertyDependencies[name] {
			if !yield(Reference{URN: d, Kind: graph.PropertyDependency, Property: name}) {
				return false
			}
		}
	}
	return true
}
