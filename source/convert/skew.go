package convert

import (
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

// The fields below belong to newer versions of the protocol than the generated types know. They are read from and written as
// fields without a name, which older peers skip (protocol.md 0.2).
const (
	fieldLoader    protowire.Number = 3 // ConvertStateRequest.loader_target
	fieldEcosystem protowire.Number = 4 // GetMappingRequest.ecosystem

	fieldParameterization protowire.Number = 9  // ResourceImport.parameterization
	fieldExtension        protowire.Number = 10 // ResourceImport.extension
	fieldParent           protowire.Number = 11 // ResourceImport.parent
	fieldProperties       protowire.Number = 12 // ResourceImport.properties
	fieldProvider         protowire.Number = 13 // ResourceImport.provider
	fieldInputs           protowire.Number = 14 // ResourceImport.inputs
	fieldOutputs          protowire.Number = 15 // ResourceImport.outputs
)

// unnamed are the fields of a message that are texts, bytes or messages, in their order.
type unnamed map[protowire.Number][][]byte

// newer returns the fields that the generated type of a message does not have.
func newer(m proto.Message) unnamed { return fields(m.ProtoReflect().GetUnknown()) }

// fields reads an encoded message up to its end, or to what is no field.
func fields(b []byte) unnamed {
	out := unnamed{}
	for len(b) > 0 {
		number, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			break
		}
		b = b[n:]
		if n = protowire.ConsumeFieldValue(number, kind, b); n < 0 {
			break
		}
		if kind == protowire.BytesType {
			value, _ := protowire.ConsumeBytes(b)
			out[number] = append(out[number], value)
		}
		b = b[n:]
	}
	return out
}

func (u unnamed) texts(field protowire.Number) []string {
	var out []string
	for _, value := range u[field] {
		out = append(out, string(value))
	}
	return out
}

// text returns the value of a field that is not repeated, of which the last counts; "" if it is not set.
func (u unnamed) text(field protowire.Number) string {
	if list := u[field]; len(list) > 0 {
		return string(list[len(list)-1])
	}
	return ""
}

// parameterization reads a message with a name, a version and a value; nil if it is not set.
func (u unnamed) parameterization(field protowire.Number) *Parameterization {
	list := u[field]
	if len(list) == 0 {
		return nil
	}
	f := fields(list[len(list)-1])
	return &Parameterization{Name: f.text(1), Version: f.text(2), Value: []byte(f.text(3))}
}

// setLoader names the loader to converters that need one for states.
func setLoader(m proto.Message, address string) {
	b := protowire.AppendTag(nil, fieldLoader, protowire.BytesType)
	m.ProtoReflect().SetUnknown(protowire.AppendString(b, address))
}
