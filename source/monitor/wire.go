package monitor

import (
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/sluice-iac/sluice/property"
)

// decodeMap reads properties as a request carries them: unknowns, secrets and references are kept, outputs are
// downgraded (protocol.md 2.5). name is the field, for errors.
func decodeMap(name string, s *structpb.Struct) (property.Map, error) {
	m, err := property.UnmarshalStruct(s, requestOptions(name, property.DowngradeOutputs))
	if err != nil {
		return property.Map{}, invalid("%w", err)
	}
	return m, nil
}

// decodeInputs reads properties with their outputs. With upgrade, secrets and unknowns become outputs too (protocol.md
// 2.3).
func decodeInputs(name string, s *structpb.Struct, upgrade bool) (property.Map, error) {
	outputs := property.KeepOutputs
	if upgrade {
		outputs = property.UpgradeOutputs
	}
	m, err := property.UnmarshalStruct(s, requestOptions(name, outputs))
	if err != nil {
		return property.Map{}, invalid("%w", err)
	}
	return m, nil
}

// decodeValue is decodeMap for one value, in which outputs are downgraded; nil is null.
func decodeValue(name string, v *structpb.Value) (property.Value, error) {
	if v == nil {
		return property.Null, nil
	}
	decoded, err := property.UnmarshalValue(v, requestOptions(name, property.DowngradeOutputs))
	if err != nil {
		return property.Null, invalid("%w", err)
	}
	return decoded, nil
}

// requestOptions are those of requests, and of callbacks in both directions: transforms have outputs, hooks have not.
func requestOptions(name string, outputs property.OutputPolicy) property.WireOptions {
	return property.WireOptions{
		Name: name, Unknowns: property.KeepUnknowns, KeepSecrets: true, KeepReferences: true, Outputs: outputs,
	}
}

// callbackOptions are those of values that are sent to a callback.
func callbackOptions(name string, outputs property.OutputPolicy, byteStrings bool) property.WireOptions {
	o := requestOptions(name, outputs)
	o.KeepByteStrings = byteStrings
	return o
}

// replyShape holds which forms of values the caller understands (protocol.md 4.4).
type replyShape struct{ secrets, references, partial, byteStrings, outputs bool }

func (s replyShape) encode(m property.Map) (*structpb.Struct, error) {
	if !s.partial {
		m = s.withoutUnknowns(m)
	}
	o := property.WireOptions{
		Unknowns: property.KeepUnknowns, KeepSecrets: s.secrets, KeepReferences: s.references, KeepByteStrings: s.byteStrings,
	}
	if s.outputs {
		o.Outputs = property.KeepOutputs
	}
	return property.PackStruct(m, o)
}

// withoutUnknowns drops the properties that contain an unknown anywhere. A caller that understands references knows a resource without its ID.
func (s replyShape) withoutUnknowns(m property.Map) property.Map {
	var drop []string
	for name, v := range m.All() {
		unknown := v.HasUnknowns()
		if !s.references { // each becomes its ID
			v.MapReferences(func(r property.Reference) property.Reference {
				unknown = unknown || r.ID.IsUnknown()
				return r
			})
		}
		if unknown {
			drop = append(drop, name)
		}
	}
	if len(drop) == 0 {
		return m
	}
	return m.Without(drop...)
}
