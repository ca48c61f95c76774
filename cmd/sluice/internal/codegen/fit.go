package codegen

import (
	"math"

	"github.com/sluice-iac/sluice/property"
)

// narrowed returns the type of a value: t, or the member of a union that the value belongs to. It returns nil if the
// value does not have the type; the value is then written unchanged.
func (s *Schema) narrowed(t *typeSpec, v property.Value) *typeSpec {
	if t.kindOf() != unionKind {
		switch {
		case v.IsString() && (t.kindOf() == assetKind || t.kindOf() == archiveKind), v.IsMap() && t.kindOf() == objectKind, s.fits(t, v):
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
		if m.kindOf() != anyKind && s.fits(m, v) {
			return s.narrowed(m, v)
		}
	}
	return nil
}

// fits reports whether a value has a type. For an object it checks only what distinguishes the members of a union:
// whether the object has properties that the type does not have, or lacks required ones.
func (s *Schema) fits(t *typeSpec, v property.Value) bool {
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
		return s.fits(t.element, v)
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
			if s.fits(m, v) {
				return true
			}
		}
		return false
	}
	if !v.IsMap() {
		return false
	}
	named := s.named(t.token)
	if named == nil {
		return true
	}
	m := v.AsMap()
	for name := range m.All() {
		if _, ok := named.property(name); !ok {
			return false
		}
	}
	for _, p := range named.properties {
		if _, ok := m.Get(p.name); p.isRequired && !ok {
			return false
		}
	}
	return true
}
