package compare

import (
	"fmt"
	"strings"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

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
