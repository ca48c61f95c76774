// Package unnamed reads and writes fields of messages that belong to newer versions of a protocol than the generated types know.
// They are fields without a name, which older peers skip (protocol.md 0.2).
//
// It knows no message and no field: who uses one knows its number and its type.
package unnamed

import (
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

// Fields are those fields of a message that are texts, bytes or messages, in their order.
type Fields map[protowire.Number][][]byte

// Of returns the fields that the generated type of a message does not have.
func Of(m proto.Message) Fields { return Read(m.ProtoReflect().GetUnknown()) }

// Read reads an encoded message up to its end, or to what is no field. It returns nil for an empty one.
func Read(b []byte) Fields {
	var out Fields
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
			if out == nil {
				out = Fields{}
			}
			value, _ := protowire.ConsumeBytes(b)
			out[number] = append(out[number], value)
		}
		b = b[n:]
	}
	return out
}

// Texts returns the values of a field that is repeated.
func (f Fields) Texts(field protowire.Number) []string {
	var out []string
	for _, value := range f[field] {
		out = append(out, string(value))
	}
	return out
}

// Last returns the value of a field that is not repeated, of which the last counts, and whether it is set.
func (f Fields) Last(field protowire.Number) (value []byte, set bool) {
	list := f[field]
	if len(list) == 0 {
		return nil, false
	}
	return list[len(list)-1], true
}

// Text returns the value of a field that is not repeated; "" if it is not set.
func (f Fields) Text(field protowire.Number) string {
	value, _ := f.Last(field)
	return string(value)
}

// SetText makes a text the only field of a message that its type does not have.
func SetText(m proto.Message, field protowire.Number, text string) {
	b := protowire.AppendTag(nil, field, protowire.BytesType)
	m.ProtoReflect().SetUnknown(protowire.AppendString(b, text))
}

// SetFlag does so with a flag that is true.
func SetFlag(m proto.Message, field protowire.Number) {
	b := protowire.AppendTag(nil, field, protowire.VarintType)
	m.ProtoReflect().SetUnknown(protowire.AppendVarint(b, 1))
}
