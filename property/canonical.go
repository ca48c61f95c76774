package property

import (
	"encoding/binary"
	"math"
)

// AppendCanonical appends an encoding of a map to b: two maps have the same encoding if and only if they are [IdenticalMaps]. It is for
// digests, and cannot be decoded. ok is false if the map has no such encoding: it contains unknown values, outputs, secrets that are not
// decrypted, or an asset or archive without a hash.
func AppendCanonical(b []byte, m Map) (_ []byte, ok bool) {
	e := canonical{b, true}
	e.object(m)
	return e.b, e.ok
}

// canonical is an encoding in progress. Each value begins with a byte for its kind, and each text with its length.
type canonical struct {
	b  []byte
	ok bool
}

func (e *canonical) object(m Map) {
	e.count(len(m.members()))
	for _, p := range m.members() { // in the order of their names
		e.text(p.name)
		e.value(p.value)
	}
}

func (e *canonical) count(n int) { e.b = binary.AppendUvarint(e.b, uint64(n)) }

func (e *canonical) text(s string) {
	e.count(len(s))
	e.b = append(e.b, s...)
}

func (e *canonical) value(v Value) {
	switch x := v.v.(type) {
	case nil:
		e.b = append(e.b, '0')
	case bool:
		if x {
			e.b = append(e.b, 't')
		} else {
			e.b = append(e.b, 'f')
		}
	case float64:
		if x != x {
			x = math.NaN() // which has many forms
		}
		e.b = binary.BigEndian.AppendUint64(append(e.b, 'n'), math.Float64bits(x+0)) // minus zero is zero
	case string:
		e.b = append(e.b, 's')
		e.text(x)
	case Array:
		e.b = append(e.b, '[')
		e.count(len(x.a))
		for _, element := range x.a {
			e.value(element)
		}
	case Map:
		e.b = append(e.b, '{')
		e.object(x)
	case Asset:
		e.b = append(e.b, 'a', byte(x.Kind))
		e.sources(x.Hash, x.Text, x.Path, x.URI)
	case Archive:
		e.b = append(e.b, 'z', byte(x.Kind))
		e.sources(x.Hash, x.Path, x.URI)
		e.object(x.Members)
	case Reference:
		e.b = append(e.b, 'r')
		e.text(string(x.URN))
		e.text(x.PackageVersion)
		e.value(x.ID)
	case *secret:
		e.b = append(e.b, '!')
		e.ok = e.ok && !x.isOpaque()
		e.value(x.element)
	default:
		e.ok = false
	}
}

// sources encodes an asset or archive. The hash comes first.
func (e *canonical) sources(texts ...string) {
	e.ok = e.ok && texts[0] != ""
	for _, t := range texts {
		e.text(t)
	}
}
