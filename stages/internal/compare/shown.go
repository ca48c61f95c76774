package compare

import (
	"fmt"
	"strings"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

// CheckFailure returns the code and the text of the message about an input that a provider refuses.
func CheckFailure(u urn.URN, inputs property.Map, f providers.CheckFailure) (int, string) {
	if f.Property == "" {
		return stages.CodeInvalidResource, fmt.Sprintf("%v resource '%v' has a problem: %v", u.Type(), u.Name(), f.Reason)
	}
	value := "<null>"
	if p, err := property.ParsePath(f.Property); err == nil {
		if v, ok := inputs.Lookup(p); ok {
			value = ShownValue(v)
		}
	}
	return stages.CodeInvalidProperty, fmt.Sprintf("%v resource '%v': property %v value {%v} has a problem: %v",
		u.Type(), u.Name(), f.Property, value, f.Reason)
}

// ShownValue is a value in a message: short, and never a secret.
func ShownValue(v property.Value) string {
	const limit = 200
	switch {
	case v.HasSecrets():
		return "[secret]"
	case v.HasUnknowns():
		return "[unknown]"
	case v.IsNull():
		return "<null>"
	case v.IsString():
		if s := v.AsString(); len(s) > limit {
			return strings.ToValidUTF8(s[:limit], "") + "…"
		}
		return v.AsString()
	case v.IsNumber():
		return fmt.Sprint(v.AsNumber())
	case v.IsBool():
		return fmt.Sprint(v.AsBool())
	case v.IsArray():
		return fmt.Sprintf("array of %d", v.AsArray().Len())
	case v.IsMap():
		return fmt.Sprintf("object of %d", v.AsMap().Len())
	}
	return "…"
}

// ShownChange is the change of a property in a message, on one line. Of an object or an array it names the places that differ.
func ShownChange(name string, old, now property.Value) string {
	const limit = 5 // of the places
	text := fmt.Sprintf("%s: %s => %s", name, ShownValue(old), ShownValue(now))
	var places []string
	in := func(v property.Value) property.Map { return property.NewMap(map[string]property.Value{name: v}) }
	for c := range property.Diff(in(old), in(now), nil).Changes() {
		switch {
		case len(c.Path) == 1:
			return text
		case len(places) == limit:
			return fmt.Sprintf("%s (%s; …)", text, strings.Join(places, "; "))
		}
		places = append(places, fmt.Sprintf("%s: %s => %s", c.Path, ShownValue(c.Old), ShownValue(c.New)))
	}
	if places == nil {
		return text
	}
	return fmt.Sprintf("%s (%s)", text, strings.Join(places, "; "))
}
