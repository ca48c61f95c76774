package values

import (
	"slices"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/urn"
)

// Marks are the properties of a value that its wrappers hold.
type Marks struct {
	Secret       bool
	Dependencies []urn.URN // sorted
}

// Unmark removes the wrappers around a value, but not those inside it. An unknown output becomes an unknown value.
func Unmark(v property.Value) (inner property.Value, m Marks) {
	inner = v
	for {
		switch {
		case inner.IsSecret():
			m.Secret, inner = true, inner.AsSecret()
		case inner.IsOutput():
			o := inner.AsOutput()
			m = m.And(Marks{o.Secret, o.Dependencies})
			if inner = o.Element; !o.Known {
				inner = property.Computed()
			}
		default:
			return inner, m
		}
	}
}

// UnmarkDeep is like Unmark, but removes the wrappers at any depth. Their marks apply to the whole, which is unknown if any part of it is.
func UnmarkDeep(v property.Value) (plain property.Value, m Marks) {
	plain = v.StripSecretsAndOutputs()
	if plain.HasUnknowns() {
		plain = property.Computed()
	}
	return plain, Marks{v.HasSecrets(), v.OutputDependencies()}
}

// And returns the marks of a value that is computed from two values.
func (m Marks) And(other Marks) Marks {
	return Marks{m.Secret || other.Secret, Union(m.Dependencies, other.Dependencies)}
}

// Mark adds the marks to a value. Null is no secret: there is nothing in it to hide, and providers refuse a secret without a value. A value that is not
// available keeps the reason.
func (m Marks) Mark(v property.Value) property.Value {
	if _, is := v.IsUnavailable(); is && len(m.Dependencies) > 0 {
		return property.OutputOf(property.Output{Known: true, Element: v, Secret: true, Dependencies: m.Dependencies})
	} else if is {
		return v
	}
	inner, own := Unmark(v)
	all := m.And(own)
	all.Secret = all.Secret && !inner.IsNull()
	switch {
	case len(all.Dependencies) > 0:
		o := property.Output{Known: !inner.IsUnknown(), Secret: all.Secret, Dependencies: all.Dependencies}
		if o.Known {
			o.Element = inner
		}
		return property.OutputOf(o)
	case all.Secret:
		return property.Secret(inner)
	}
	return inner
}

// Secret marks a value as secret.
func Secret(v property.Value) property.Value { return Marks{Secret: true}.Mark(v) }

// Union returns the sorted union of a and b. If one is empty, it returns the other itself.
func Union(a, b []urn.URN) []urn.URN {
	if len(b) == 0 {
		return a
	}
	if len(a) == 0 {
		return b
	}
	return Sorted(slices.Concat(a, b))
}

// Sorted returns a sorted copy without duplicates.
func Sorted(us []urn.URN) []urn.URN {
	us = slices.Clone(us)
	slices.Sort(us)
	return slices.Compact(us)
}
