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

// NoElement says that a list of n elements has no element of an index.
func NoElement(index, n int) string {
	switch n {
	case 0:
		return fmt.Sprintf("there is no element %d: the list is empty", index)
	case 1:
		return fmt.Sprintf("there is no element %d: the list has 1 element, with the index 0", index)
	}
	return fmt.Sprintf("there is no element %d: the list has %d elements, with the indexes 0 to %d", index, n, n-1)
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
// Null at the top level that a resource gave stays.
func WithoutNulls(properties map[string]property.Value) map[string]property.Value {
	kept := make(map[string]property.Value, len(properties))
	for name, v := range properties {
		if !v.IsNull() {
			kept[name] = v.WithoutNulls()
		}
	}
	return kept
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
