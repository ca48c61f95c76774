package codegen

import (
	"math"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/urn"
)

// narrowed chooses the member of a union that a value belongs to, and gives up types that the value does not have: it is then
// written as it is.
func narrowed(in *Schema, t *typeSpec, v property.Value) *typeSpec {
	if t.kindOf() != unionKind {
		switch {
		case v.IsString() && (t.kindOf() == assetKind || t.kindOf() == archiveKind), v.IsMap() && t.kindOf() == objectKind, fits(in, t, v):
			return t
		}
		return nil
	}
	if v.IsMap() && t.discriminator != "" {
		if d := v.AsMap().At(t.discriminator); d.IsString() {
			for _, m := range t.members {
				if m.kindOf() == objectKind && nameOfToken(m.token) == nameOfToken(lastSegment(t.mapping[d.AsString()])) {
					return m
				}
			}
		}
	}
	for _, m := range t.members {
		if m.kindOf() != anyKind && fits(in, m, v) {
			return narrowed(in, m, v)
		}
	}
	return nil
}

// lastSegment is the token that a reference such as "#/types/<token>" ends with.
func lastSegment(ref string) urn.Type {
	const prefix = "#/types/"
	if len(ref) > len(prefix) && ref[:len(prefix)] == prefix {
		return urn.Type(ref[len(prefix):])
	}
	return urn.Type(ref)
}

// fits reports whether a value has a type. Of objects only what tells the members of unions apart is looked at: whether they
// have properties that the type does not know, or lack ones that it requires.
func fits(in *Schema, t *typeSpec, v property.Value) bool {
	v, _ = v.Unwrap()
	switch t.kindOf() {
	case anyKind:
		return true
	case boolKind:
		return v.IsBool()
	case integerKind:
		return v.IsNumber() && v.AsNumber() == math.Trunc(v.AsNumber()) && math.Abs(v.AsNumber()) < 1<<53
	case numberKind:
		return v.IsNumber()
	case stringKind:
		return v.IsString()
	case enumKind:
		return fits(in, t.element, v)
	case arrayKind:
		return v.IsArray()
	case mapKind:
		return v.IsMap()
	case assetKind:
		return v.IsAsset() || v.IsArchive()
	case archiveKind:
		return v.IsArchive()
	case unionKind:
		for _, m := range t.members {
			if fits(in, m, v) {
				return true
			}
		}
		return false
	}
	if !v.IsMap() {
		return false
	}
	s := in.named(t.token)
	if s == nil {
		return true
	}
	m := v.AsMap()
	for name := range m.All() {
		if _, ok := s.property(name); !ok {
			return false
		}
	}
	for _, p := range s.properties {
		if _, ok := m.Get(p.name); p.isRequired && !ok {
			return false
		}
	}
	return true
}
