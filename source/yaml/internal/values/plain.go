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

// ToGo returns a plain value as a Go value. ok is false if it contains something that is not data.
func ToGo(v property.Value) (out any, ok bool) {
	switch {
	case v.IsNull():
		return nil, true
	case v.IsBool():
		return v.AsBool(), true
	case v.IsNumber():
		return v.AsNumber(), true
	case v.IsString():
		return v.AsString(), true
	case v.IsArray():
		list := make([]any, 0, v.AsArray().Len())
		for _, item := range v.AsArray().All() {
			x, ok := ToGo(item)
			if !ok {
				return nil, false
			}
			list = append(list, x)
		}
		return list, true
	case v.IsMap():
		m := map[string]any{}
		for name, item := range v.AsMap().All() {
			x, ok := ToGo(item)
			if !ok {
				return nil, false
			}
			m[name] = x
		}
		return m, true
	}
	return nil, false
}

// Text returns a plain value as it appears in an interpolated string (protocol.md 11.6). ok is false for a value without
// a text.
func Text(v property.Value) (s string, ok bool) {
	if v.IsString() {
		return v.AsString(), true
	}
	x, ok := ToGo(v)
	if !ok {
		return "", false
	}
	return fmt.Sprintf("%v", x), true
}
