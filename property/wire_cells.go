package property

import "google.golang.org/protobuf/types/known/structpb"

// The constructors below put a value and its oneof wrapper into one allocation. Encoding is the hot path of a run, and
// allocations are most of its cost.

func textCell(s string) *structpb.Value {
	c := &struct {
		v structpb.Value
		k structpb.Value_StringValue
	}{k: structpb.Value_StringValue{StringValue: s}}
	c.v.Kind = &c.k
	return &c.v
}

func numberCell(f float64) *structpb.Value {
	c := &struct {
		v structpb.Value
		k structpb.Value_NumberValue
	}{k: structpb.Value_NumberValue{NumberValue: f}}
	c.v.Kind = &c.k
	return &c.v
}

func boolCell(b bool) *structpb.Value {
	c := &struct {
		v structpb.Value
		k structpb.Value_BoolValue
	}{k: structpb.Value_BoolValue{BoolValue: b}}
	c.v.Kind = &c.k
	return &c.v
}

func nullCell() *structpb.Value {
	c := &struct {
		v structpb.Value
		k structpb.Value_NullValue
	}{}
	c.v.Kind = &c.k
	return &c.v
}

func structCell(s *structpb.Struct) *structpb.Value {
	c := &struct {
		v structpb.Value
		k structpb.Value_StructValue
	}{k: structpb.Value_StructValue{StructValue: s}}
	c.v.Kind = &c.k
	return &c.v
}

func listCell(values []*structpb.Value) *structpb.Value {
	c := &struct {
		v structpb.Value
		k structpb.Value_ListValue
		l structpb.ListValue
	}{}
	c.l.Values = values
	c.k.ListValue = &c.l
	c.v.Kind = &c.k
	return &c.v
}

// signedCell makes a special value with the given signature, one field if name is not empty, and room for more.
func signedCell(signature string, more int, name string, field *structpb.Value) *structpb.Value {
	fields := make(map[string]*structpb.Value, 1+more)
	fields[SignatureKey] = textCell(signature)
	if name != "" {
		fields[name] = field
	}
	return structCell(&structpb.Struct{Fields: fields})
}
