package property

import (
	"context"
	"unicode/utf8"
)

// Recordable returns the properties of m that a state can hold, and the error of [EncodeState] for the others, nil if there are none. What a
// secrets provider does with their secrets does not count, and neither do values that are not known: see [Map.WithoutUnknowns]. It costs a
// walk of m.
func Recordable(m Map) (Map, error) {
	if s := (sizing{}); s.object(m, 0) {
		return m, nil
	}
	return encodable(m)
}

// encodable is Recordable for a map that has to be encoded to find out.
func encodable(m Map) (Map, error) {
	encodes := func(m Map) error {
		_, err := EncodeState(context.Background(), m.WithoutUnknowns(), StateOptions{Encrypter: identity{}})
		return err
	}
	err := encodes(m)
	if err == nil {
		return m, nil
	}
	kept := m.filter(func(name string, v Value) bool { return encodes(NewMap(map[string]Value{name: v})) == nil })
	if encodes(kept) != nil { // each of them would be small enough
		kept = Map{}
	}
	return kept, err
}

// sizing is a walk that finds out cheaply whether a value can certainly be encoded for a state. It stops at a small part of the limits, since it
// does not know how texts are escaped and secrets are encrypted.
type sizing struct{ size int }

const (
	certainDepth = MaxDepth / 10
	certainSize  = MaxSize / 100
)

func (s *sizing) value(v Value, depth int) bool {
	s.size += perValue
	if depth > certainDepth || s.size > certainSize {
		return false
	}
	switch x := v.v.(type) {
	case string:
		s.size += len(x)
	case Array:
		for _, e := range x.a {
			if !s.value(e, depth+1) {
				return false
			}
		}
	case Map:
		return s.object(x, depth)
	case *secret:
		return x.isOpaque() || s.value(x.element, depth+1)
	case *Output:
		return !x.Known || s.value(x.Element, depth+1)
	case Reference:
		s.size += len(x.URN) + len(x.PackageVersion)
		return s.value(x.ID, depth+1)
	case Asset:
		s.size += len(x.Text) + len(x.Path) + len(x.URI) + len(x.Hash)
	case Archive:
		s.size += len(x.Path) + len(x.URI) + len(x.Hash)
		return s.object(x.Members, depth)
	}
	return s.size <= certainSize
}

func (s *sizing) object(m Map, depth int) bool {
	for _, p := range m.members() {
		s.size += len(p.name)
		if p.name == SignatureKey || !utf8.ValidString(p.name) || !s.value(p.value, depth+1) {
			return false
		}
	}
	return true
}
