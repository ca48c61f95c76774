package values

import (
	"fmt"

	"github.com/sluice-iac/sluice/property"
)

// Describe returns the kind of a value, for messages.
func Describe(v property.Value) string {
	switch {
	case v.IsNull():
		return "null"
	case v.IsBool():
		return "a boolean"
	case v.IsNumber():
		return "a number"
	case v.IsString():
		return "a string"
	case v.IsArray():
		return "a list"
	case v.IsMap():
		return "an object"
	case v.IsAsset():
		return "an asset"
	case v.IsArchive():
		return "an archive"
	case v.IsReference():
		return "a resource"
	}
	return "an unknown value"
}

// HasNull reports whether a plain value is null or contains null.
func HasNull(v property.Value) bool {
	switch {
	case v.IsNull():
		return true
	case v.IsArray():
		for _, item := range v.AsArray().All() {
			if HasNull(item) {
				return true
			}
		}
	case v.IsMap():
		for _, item := range v.AsMap().All() {
			if HasNull(item) {
				return true
			}
		}
	}
	return false
}

// WithoutNulls returns the properties without those that are null, at any depth: with null a program leaves a property out (protocol.md 11.5).
// Elements of lists stay. So does a property that is a secret of null, or null that a resource gave; within others such a value is null.
func WithoutNulls(properties map[string]property.Value) map[string]property.Value {
	kept := make(map[string]property.Value, len(properties))
	for name, v := range properties {
		if !v.IsNull() {
			kept[name] = withoutNulls(v)
		}
	}
	return kept
}

// withoutNulls returns a value without the properties in it that are null.
func withoutNulls(v property.Value) property.Value {
	switch {
	case v.IsSecret():
		return property.Secret(withoutNulls(v.AsSecret()))
	case v.IsOutput():
		o := v.AsOutput()
		if o.Known {
			o.Element = withoutNulls(o.Element)
		}
		return property.OutputOf(o)
	case v.IsArray():
		items := make([]property.Value, 0, v.AsArray().Len())
		for _, item := range v.AsArray().All() {
			items = append(items, withoutNulls(item))
		}
		return property.ArrayOf(items...)
	case v.IsMap():
		kept := make(map[string]property.Value, v.AsMap().Len())
		for name, item := range v.AsMap().All() {
			if !item.DowngradeOutputs().IsNull() {
				kept[name] = withoutNulls(item)
			}
		}
		return property.Of(property.NewMap(kept))
	}
	return v
}

// Text returns the form of a plain value in an interpolated string (protocol.md 11.6). ok is false if it has none.
func Text(v property.Value) (s string, ok bool) {
	if v.IsString() {
		return v.AsString(), true
	}
	x, ok := property.ToGo(v)
	if !ok {
		return "", false
	}
	return fmt.Sprintf("%v", x), true
}
