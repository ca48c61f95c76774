// Package packed is a codec of gRPC for messages with properties. It does not decode them: [property.UnmarshalStruct] reads them from
// their encoding, without the maps and values of structpb in between.
package packed

import (
	"sync"

	"google.golang.org/grpc/encoding"
	grpcproto "google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// Codec reads messages of protocol buffers. The fields of a message that are a google.protobuf.Struct become packed (see
// [property.PackStruct]); those of nested messages do not. It writes messages as gRPC does. It may be used from many goroutines.
type Codec struct {
	usual  encoding.CodecV2 // the one of gRPC
	packed sync.Map         // the fields that become packed, by the descriptor of the message: map[protowire.Number]protoreflect.FieldDescriptor
}

// NewCodec returns a codec. It is for [grpc.ForceServerCodecV2] and [grpc.ForceCodecV2].
func NewCodec() *Codec { return &Codec{usual: encoding.GetCodecV2(grpcproto.Name)} }

// Name returns the name of the encoding.
func (c *Codec) Name() string { return c.usual.Name() }

// Marshal writes a message.
func (c *Codec) Marshal(from any) (mem.BufferSlice, error) { return c.usual.Marshal(from) }

// Unmarshal reads a message.
func (c *Codec) Unmarshal(data mem.BufferSlice, to any) error {
	m, ok := to.(proto.Message)
	if !ok {
		return c.usual.Unmarshal(data, to)
	}
	fields := c.fieldsOf(m.ProtoReflect().Descriptor())
	if len(fields) == 0 {
		return c.usual.Unmarshal(data, to)
	}
	buffer := data.MaterializeToBuffer(mem.DefaultBufferPool())
	defer buffer.Free()
	return unmarshal(buffer.ReadOnlyData(), m, fields)
}

// fieldsOf returns the fields of a message that are packed.
func (c *Codec) fieldsOf(d protoreflect.MessageDescriptor) map[protowire.Number]protoreflect.FieldDescriptor {
	if known, ok := c.packed.Load(d); ok {
		return known.(map[protowire.Number]protoreflect.FieldDescriptor)
	}
	out := map[protowire.Number]protoreflect.FieldDescriptor{}
	for i := range d.Fields().Len() {
		f := d.Fields().Get(i)
		if f.Message() != nil && f.Message().FullName() == structName && f.Cardinality() != protoreflect.Repeated && f.ContainingOneof() == nil {
			out[f.Number()] = f
		}
	}
	c.packed.Store(d, out)
	return out
}

const structName = "google.protobuf.Struct"

// unmarshal reads the parts between packed fields as usual. Several contents of a field are one content, as for any message.
func unmarshal(data []byte, to proto.Message, fields map[protowire.Number]protoreflect.FieldDescriptor) error {
	m := to.ProtoReflect()
	proto.Reset(to)
	rest := 0 // what comes before has been read
	read := func(end int) error {
		if rest == end {
			return nil
		}
		return proto.UnmarshalOptions{Merge: true}.Unmarshal(data[rest:end], to)
	}
	for at := 0; at < len(data); {
		number, kind, n := protowire.ConsumeTag(data[at:])
		if n < 0 {
			break // the error is that of reading it
		}
		size := protowire.ConsumeFieldValue(number, kind, data[at+n:])
		if size < 0 {
			break
		}
		end := at + n + size
		if f, ok := fields[number]; ok && kind == protowire.BytesType {
			if err := read(at); err != nil {
				return err
			}
			content, _ := protowire.ConsumeBytes(data[at+n : end])
			s := m.Mutable(f).Message()
			s.SetUnknown(append(s.GetUnknown(), content...))
			rest = end
		}
		at = end
	}
	return read(len(data))
}
