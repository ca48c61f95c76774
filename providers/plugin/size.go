package plugin

import (
	"fmt"
	"maps"
	"slices"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/structpb"
)

// blamable is the size in bytes from which a property may be the reason that a message was too large; otherwise the
// answer was.
const blamable = 1 << 20

// largestProperty names the largest property of a request that was too large to send, with its size. It returns "" if
// none explains it.
func largestProperty(req proto.Message) string {
	var name string
	var size int
	req.ProtoReflect().Range(func(_ protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		m, ok := v.Interface().(protoreflect.Message)
		if !ok {
			return true
		}
		s, ok := m.Interface().(*structpb.Struct)
		if !ok {
			return true
		}
		if packed := s.ProtoReflect().GetUnknown(); len(packed) > 0 {
			s = &structpb.Struct{}
			if proto.Unmarshal(packed, s) != nil {
				return true
			}
		}
		for _, key := range slices.Sorted(maps.Keys(s.GetFields())) {
			if n := proto.Size(s.GetFields()[key]); n > size {
				name, size = key, n
			}
		}
		return true
	})
	if size < blamable {
		return ""
	}
	return fmt.Sprintf("the largest property is %q with %.1f MiB; put large contents into assets", name, float64(size)/(1<<20))
}
