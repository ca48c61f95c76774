package state

import (
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
