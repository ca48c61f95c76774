package codegen

import (
	"encoding/json"
	"fmt"
	"math"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/urn"
)

// Schema describes the resources of a package. Make one with [ParseSchema] or [Unknown].
type Schema struct {
	Name      string
	Namespace string
	Version   string
	Language  map[string]json.RawMessage

	moduleFormat *regexp.Regexp
	resources    map[string]json.RawMessage
	types        map[string]json.RawMessage
	provider     json.RawMessage
	decoded      map[string]*shape
}

// Unknown returns the schema of a package whose provider returned none: it has the usual names and no types.
func Unknown(pkg string) *Schema { return &Schema{Name: pkg, decoded: map[string]*shape{}} }

// ParseSchema parses a provider's response to GetSchema. It decodes details only when they are needed, because some
// schemas are very large.
func ParseSchema(text string) (*Schema, error) {
	var raw struct {
		Name, Namespace, Version string
		Meta                     struct{ ModuleFormat string }
		Language                 map[string]json.RawMessage
		Resources, Types         map[string]json.RawMessage
		Provider                 json.RawMessage
	}
	if err := json.Unmarshal([]byte(text), &raw); err != nil {
		return nil, fmt.Errorf("read the schema: %w", err)
	}
	s := &Schema{
		Name: raw.Name, Namespace: raw.Namespace, Version: raw.Version, Language: raw.Language, resources: raw.Resources,
		types: raw.Types, provider: raw.Provider, decoded: map[string]*shape{},
	}
	if f := raw.Meta.ModuleFormat; f != "" {
		var err error
		if s.moduleFormat, err = regexp.Compile(f); err != nil {
			return nil, fmt.Errorf("read the schema of %s: moduleFormat: %w", raw.Name, err)
		}
	}
	return s, nil
}

// ResourceTypes returns the types of the resources, in ascending order.
func (s *Schema) ResourceTypes() []urn.Type {
	out := make([]urn.Type, 0, len(s.resources))
	for token := range s.resources {
		out = append(out, urn.Type(token))
	}
	slices.Sort(out)
	return out
}

// language decodes the part of the schema for one language into out. It ignores malformed parts.
func (s *Schema) language(name string, out any) {
	if text, ok := s.Language[name]; ok {
		_ = json.Unmarshal(text, out)
	}
}

// module returns the module of a token as used in SDKs, "" for the root of the package.
func (s *Schema) module(t urn.Type) string {
	m := moduleOfToken(t)
	if t.IsProvider() || t.Package() == "pulumi" {
		return ""
	}
	switch {
	case s.moduleFormat != nil:
		match := s.moduleFormat.FindStringSubmatch(m)
		if len(match) < 2 {
			return ""
		}
		m = match[1]
	case s.resources == nil:
		// Without a schema, "s3/bucket" is taken for a module that has a file for each resource.
		if before, last, ok := strings.Cut(m, "/"); ok && strings.EqualFold(last, nameOfToken(t)) {
			m = before
		}
	}
	if m == "index" {
		return ""
	}
	return m
}

// shape is an object type or the inputs of a resource.
type shape struct {
	token      urn.Type
	properties []propertySpec // in the order of their names
	isEnum     bool
	base       *typeSpec    // of an enum
	members    []enumMember // of an enum
}

// enumMember is a value of an enum. The name is that of the schema, or the text of the value.
type enumMember struct {
	name  string
	value property.Value
}

// member returns the member with a value.
func (s *shape) member(v property.Value) (enumMember, bool) {
	i := slices.IndexFunc(s.members, func(m enumMember) bool { return property.Equal(m.value, v) })
	if i < 0 {
		return enumMember{}, false
	}
	return s.members[i], true
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

// typeSpec is a type. A nil typeSpec means any type.
type typeSpec struct {
	kind    kind
	element *typeSpec // of arrays and maps
	token   urn.Type  // of objects and enums
	members []*typeSpec
	// discriminator and mapping determine the member of a union that an object belongs to.
	discriminator string
	mapping       map[string]string
	// isForeign is true for types of other packages and for resources. Their kind is anyKind.
	isForeign bool
}

func (t *typeSpec) kindOf() kind {
	if t == nil {
		return anyKind
	}
	return t.kind
}

func (t *typeSpec) holdsText() bool { return t.kindOf() == stringKind || t.kindOf() == anyKind }

// rawProperty is a property or a type as the schema has it.
type rawProperty struct {
	Type                 string
	Ref                  string `json:"$ref"`
	Items                *rawProperty
	AdditionalProperties *rawProperty
	OneOf                []rawProperty
	Discriminator        *struct {
		PropertyName string
		Mapping      map[string]string
	}
	Plain    bool
	Secret   bool
	Const    json.RawMessage
	Language map[string]json.RawMessage
}

type rawShape struct {
	Type            string
	Enum            []json.RawMessage
	Properties      map[string]rawProperty
	Required        []string
	InputProperties map[string]rawProperty
	RequiredInputs  []string
}

// resource returns the inputs of a resource, or nil if the schema does not have it.
func (s *Schema) resource(t urn.Type) *shape {
	if s.resources == nil {
		return nil
	}
	text, ok := s.resources[string(t)]
	if t.IsProvider() {
		text, ok = s.provider, len(s.provider) > 0
	}
	if !ok {
		return nil
	}
	return s.decode("resource "+string(t), t, text)
}

// named returns an object type or an enum, or nil if the schema does not have it.
func (s *Schema) named(token urn.Type) *shape {
	text, ok := s.types[string(token)]
	if !ok {
		return nil
	}
	return s.decode("type "+string(token), token, text)
}

func (s *Schema) decode(key string, token urn.Type, text json.RawMessage) *shape {
	if known, ok := s.decoded[key]; ok {
		return known
	}
	var raw rawShape
	if err := json.Unmarshal(text, &raw); err != nil {
		s.decoded[key] = nil
		return nil
	}
	out := &shape{token: token}
	s.decoded[key] = out // before the properties are decoded, because types may contain themselves
	properties, required := raw.InputProperties, raw.RequiredInputs
	if strings.HasPrefix(key, "type ") {
		properties, required = raw.Properties, raw.Required
	}
	if len(raw.Enum) > 0 {
		out.isEnum, out.base, out.members = true, s.typeOf(rawProperty{Type: raw.Type}), enumMembers(raw.Enum)
		return out
	}
	for name, p := range properties {
		spec := propertySpec{
			name: name, typ: s.typeOf(p), isRequired: slices.Contains(required, name), isSecret: p.Secret, isPlain: p.Plain, constant: p.Const,
		}
		var inGo struct{ Name string }
		if text, ok := p.Language["go"]; ok && json.Unmarshal(text, &inGo) == nil {
			spec.goName = inGo.Name
		}
		out.properties = append(out.properties, spec)
	}
	slices.SortFunc(out.properties, func(a, b propertySpec) int { return strings.Compare(a.name, b.name) })
	return out
}

// enumMembers decodes the members of an enum. It leaves out those whose value is neither a text, a number nor a bool.
func enumMembers(texts []json.RawMessage) []enumMember {
	var out []enumMember
	for _, text := range texts {
		var raw struct {
			Name  string
			Value any
		}
		if json.Unmarshal(text, &raw) != nil {
			continue
		}
		value := scalarOf(raw.Value)
		if value.IsNull() {
			continue
		}
		if raw.Name == "" {
			raw.Name = fmt.Sprint(raw.Value)
		}
		out = append(out, enumMember{raw.Name, value})
	}
	return out
}

// scalarOf converts a decoded text, number or bool of JSON. It returns null for anything else.
func scalarOf(v any) property.Value {
	switch v := v.(type) {
	case string:
		return property.String(v)
	case bool:
		return property.Bool(v)
	case float64:
		return property.Number(v)
	}
	return property.Null
}

func (s *Schema) typeOf(p rawProperty) *typeSpec {
	switch {
	case p.Ref != "":
		return s.reference(p)
	case len(p.OneOf) > 0:
		t := &typeSpec{kind: unionKind}
		for _, m := range p.OneOf {
			t.members = append(t.members, s.typeOf(m))
		}
		if d := p.Discriminator; d != nil {
			t.discriminator, t.mapping = d.PropertyName, d.Mapping
		}
		return t
	}
	switch p.Type {
	case "boolean":
		return &typeSpec{kind: boolKind}
	case "integer":
		return &typeSpec{kind: integerKind}
	case "number":
		return &typeSpec{kind: numberKind}
	case "string":
		return &typeSpec{kind: stringKind}
	case "array":
		t := &typeSpec{kind: arrayKind}
		if p.Items != nil {
			t.element = s.typeOf(*p.Items)
		}
		return t
	case "object":
		t := &typeSpec{kind: mapKind, element: &typeSpec{kind: stringKind}}
		if p.AdditionalProperties != nil {
			t.element = s.typeOf(*p.AdditionalProperties)
		}
		return t
	}
	return &typeSpec{}
}

// reference resolves "#/types/<token>" and the references to the types that all schemas have.
func (s *Schema) reference(p rawProperty) *typeSpec {
	file, path, _ := strings.Cut(p.Ref, "#")
	if file == "pulumi.json" {
		switch path {
		case "/Asset":
			return &typeSpec{kind: assetKind}
		case "/Archive":
			return &typeSpec{kind: archiveKind}
		}
		return &typeSpec{}
	}
	token, isType := strings.CutPrefix(path, "/types/")
	if file != "" || !isType {
		return &typeSpec{isForeign: true}
	}
	if decoded, err := url.PathUnescape(token); err == nil {
		token = decoded
	}
	t := urn.Type(token)
	switch named := s.named(t); {
	case named == nil && p.Type != "":
		p.Ref = ""
		return s.typeOf(p)
	case named == nil:
		return &typeSpec{}
	case named.isEnum:
		return &typeSpec{kind: enumKind, token: t, element: named.base}
	}
	return &typeSpec{kind: objectKind, token: t}
}

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
		if m.kindOf() != anyKind && s.fits(m, v) && !s.isOutside(m, v) {
			return s.narrowed(m, v)
		}
	}
	return nil
}

// isOutside reports whether t is an enum that does not have a value.
func (s *Schema) isOutside(t *typeSpec, v property.Value) bool {
	if t.kindOf() != enumKind {
		return false
	}
	enum := s.named(t.token)
	if enum == nil {
		return false
	}
	_, ok := enum.member(v)
	return !ok
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
