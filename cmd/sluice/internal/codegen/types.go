package codegen

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/sluice-iac/sluice/urn"
)

// shape is an object type or the inputs of a resource.
type shape struct {
	token      urn.Type
	properties []propertySpec // in the order of their names
	isEnum     bool
	base       *typeSpec // of an enum
}

func (s *shape) property(name string) (propertySpec, bool) {
	i, ok := slices.BinarySearchFunc(s.properties, name, func(p propertySpec, name string) int { return strings.Compare(p.name, name) })
	if !ok {
		return propertySpec{}, false
	}
	return s.properties[i], true
}

// propertySpec is one property of a shape.
type propertySpec struct {
	name       string
	typ        *typeSpec
	isRequired bool
	isSecret   bool
	isPlain    bool
	constant   json.RawMessage
	goName     string
}

// kind is the kind of a type.
type kind int

const (
	anyKind kind = iota
	boolKind
	integerKind
	numberKind
	stringKind
	arrayKind
	mapKind
	objectKind
	enumKind
	unionKind
	assetKind
	archiveKind
)

// typeSpec is a type. The nil type is any.
type typeSpec struct {
	kind    kind
	element *typeSpec // of arrays and maps
	token   urn.Type  // of objects and enums
	members []*typeSpec
	// discriminator and mapping say which member of a union an object belongs to.
	discriminator string
	mapping       map[string]string
}

func (t *typeSpec) kindOf() kind {
	if t == nil {
		return anyKind
	}
	return t.kind
}

func (t *typeSpec) holdsText() bool { return t.kindOf() == stringKind || t.kindOf() == anyKind }
