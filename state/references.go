package state

import (
	"iter"
	"maps"
	"slices"

	"github.com/sluice-iac/sluice/graph"
	"github.com/sluice-iac/sluice/urn"
)

// Reference is one reference of a resource to another one.
type Reference struct {
	URN      urn.URN
	Kind     graph.Kind // exactly one
	Property string     // the property whose value depends on the other, of a [graph.PropertyDependency]
}

// References returns all references of r (steps.md 0.1, "all dependencies"): its provider, its parent, its dependencies,
// those of its properties by the properties' names, the resource that it is deleted with, and those that it is replaced
// with. A provider reference that cannot be read is left out.
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

// mapReferences returns r with every URN in it replaced by f of it, including its own URN and the provider's (state.md
// 3.5). If f returns "" the reference is dropped. r itself is returned when nothing changes. Lists without dropped
// references stay nil or empty as they were.
func mapReferences(r *Resource, f func(kind referenceKind, u urn.URN) urn.URN) *Resource {
	c := *r
	changed := false
	one := func(kind referenceKind, u *urn.URN) {
		if *u == "" {
			return
		}
		if v := f(kind, *u); v != *u {
			*u, changed = v, true
		}
	}
	many := func(kind referenceKind, us []urn.URN) []urn.URN {
		out, differs := mapURNs(us, func(u urn.URN) urn.URN { return f(kind, u) })
		changed = changed || differs
		return out
	}
	one(refSelf, &c.URN)
	one(refParent, &c.Parent)
	one(refDeletedWith, &c.DeletedWith)
	one(refViewOf, &c.ViewOf)
	c.Dependencies = many(refDependency, r.Dependencies)
	c.ReplaceWith = many(refReplaceWith, r.ReplaceWith)
	cloned := false
	for name, us := range r.PropertyDependencies {
		out, differs := mapURNs(us, func(u urn.URN) urn.URN { return f(refPropertyDependency, u) })
		if !differs {
			continue
		}
		if !cloned {
			c.PropertyDependencies, cloned, changed = maps.Clone(r.PropertyDependencies), true, true
		}
		c.PropertyDependencies[name] = out
	}
	if ref, err := urn.ParseProviderRef(r.Provider); err == nil {
		if u := f(refProvider, ref.URN); u != ref.URN && u != "" {
			ref.URN = u
			c.Provider, changed = ref.String(), true
		}
	}
	if !changed {
		return r
	}
	return &c
}

type referenceKind uint8

const (
	refSelf referenceKind = iota
	refParent
	refDependency
	refPropertyDependency
	refDeletedWith
	refReplaceWith
	refViewOf
	refProvider
)

// mapURNs maps a list, and returns the list itself when nothing in it changes.
func mapURNs(us []urn.URN, f func(urn.URN) urn.URN) (out []urn.URN, changed bool) {
	for i, u := range us {
		v := f(u)
		if v == u {
			if changed {
				out = append(out, u)
			}
			continue
		}
		if !changed {
			out, changed = slices.Clone(us[:i]), true
		}
		if v != "" {
			out = append(out, v)
		}
	}
	if !changed {
		return us, false
	}
	return out, true
}

// sameReferences reports whether a and b, both made from one resource by [mapReferences], are equal.
func sameReferences(a, b *Resource) bool {
	return a.URN == b.URN && a.Parent == b.Parent && a.DeletedWith == b.DeletedWith && a.ViewOf == b.ViewOf &&
		a.Provider == b.Provider && len(a.Aliases) == len(b.Aliases) &&
		slices.Equal(a.Dependencies, b.Dependencies) && slices.Equal(a.ReplaceWith, b.ReplaceWith) &&
		maps.EqualFunc(a.PropertyDependencies, b.PropertyDependencies, slices.Equal[[]urn.URN])
}
