package plugin

import (
	"encoding/json"
	"fmt"

	"google.golang.org/protobuf/types/known/structpb"

	"github.com/sluice-iac/sluice/property"
)

// textOf returns a string as it is and everything else as JSON.
func textOf(v *structpb.Value) string {
	if s, ok := v.GetKind().(*structpb.Value_StringValue); ok {
		return s.StringValue
	}
	text, err := json.Marshal(v.AsInterface())
	if err != nil {
		return fmt.Sprint(v.AsInterface()) // numbers that JSON does not have
	}
	return string(text)
}

// propertyAt returns the text of a value for a message. It does not show a value that is a secret, contains one or is
// inside one.
func propertyAt(m property.Map, path string) (string, bool) {
	p, err := property.ParsePath(path)
	if err != nil || len(p) == 0 {
		return "", false
	}
	v, ok := m.Lookup(p)
	if !ok {
		return "", false
	}
	if top, _ := m.Lookup(p[:1]); top.HasSecrets() {
		return "[secret]", true
	}
	w, err := property.MarshalValue(v, property.WireOptions{Unknowns: property.KeepUnknowns})
	if err != nil {
		return "", false
	}
	if v.HasUnknowns() {
		return "[unknown]", true
	}
	return textOf(w), true
}
