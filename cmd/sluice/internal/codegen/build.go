package codegen

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/urn"
)

// field is a property of a declaration or of an object in it.
type field struct {
	name  string
	spec  propertySpec // the zero value where there is no schema
	value expression
}

// expression is a value in no language yet: one of the types below.
type expression interface{ isExpression() }

type (
	// literal is a string, a bool or a number; null where something has to stand.
	literal struct {
		value property.Value
		typ   *typeSpec
	}
	// list is an array.
	list struct {
		items []expression
		typ   *typeSpec
	}
	// object is an object of a named type if typ is one, else a map.
	object struct {
		fields []field
		typ    *typeSpec
	}
	// asset is an asset or an archive made from a text.
	asset struct{ constructor, text string }
	// members is an archive of assets.
	members struct{ fields []field }
	// idOf is the ID of another resource.
	idOf struct {
		variable string
		typ      *typeSpec
	}
	// setting is a secret that is read from the configuration.
	setting struct {
		key string
		typ *typeSpec // string, bool, integer or number
	}
	// secretly is a value that is marked as secret.
	secretly struct{ value expression }
)

func (literal) isExpression()  {}
func (list) isExpression()     {}
func (object) isExpression()   {}
func (asset) isExpression()    {}
func (members) isExpression()  {}
func (idOf) isExpression()     {}
func (setting) isExpression()  {}
func (secretly) isExpression() {}

// builder makes declarations of states.
type builder struct {
	program   Program
	variables map[urn.URN]string
	ids       map[string]string // IDs that only one of the resources has -> its variable
	keys      map[string]bool   // settings given out
	settings  []string
	current   *declaration
}

// shortestID is the length from which an ID is taken for a reference where it occurs: shorter ones are often words.
const shortestID = 4

// findIDs finds the IDs by which resources may refer to each other.
func (b *builder) findIDs() {
	b.ids = map[string]string{}
	for _, r := range b.program.Resources {
		if !r.Custom || len(r.ID) < shortestID || r.Type.IsProvider() {
			continue
		}
		if _, taken := b.ids[r.ID]; taken {
			b.ids[r.ID] = ""
			continue
		}
		b.ids[r.ID] = b.variables[r.URN]
	}
}

func (b *builder) build() *document {
	doc := &document{}
	b.settings, b.keys = nil, map[string]bool{}
	for _, variable := range b.variables {
		b.keys[variable] = true // in YAML they share one namespace
	}
	for _, r := range b.program.Resources {
		doc.resources = append(doc.resources, b.declare(r))
	}
	doc.settings = b.settings
	return doc
}

func (b *builder) declare(r *sluice.Resource) *declaration {
	d := &declaration{state: r, variable: b.variables[r.URN], token: r.Type, isLocal: !r.Custom && r.Provider == ""}
	b.current = d
	pkg := r.Type.Package()
	if r.Type.IsProvider() {
		pkg = r.Type.ProviderPackage()
	}
	if d.pkg = b.program.Schemas[b.providerRef(r)]; d.pkg == nil {
		d.pkg = Unknown(pkg)
	}
	if p := r.Parent; p != "" && !p.IsRootStack() {
		d.parent = b.mention(p, "parent")
	}
	if ref, err := urn.ParseProviderRef(r.Provider); err == nil && !strings.HasPrefix(ref.URN.Name(), "default") {
		d.provider = b.mention(ref.URN, "provider")
	}
	if d.isLocal {
		return d
	}
	inputs := r.Inputs.WithoutInternal()
	if r.Type.IsProvider() {
		inputs = inputs.Without("version")
	}
	shape := d.pkg.resource(r.Type)
	if shape == nil {
		d.properties = b.untyped(inputs, false, []string{d.variable})
		return d
	}
	d.properties = b.typed(shape, inputs, false, []string{d.variable})
	return d
}

// providerRef is the reference under which the schema for a resource was stored.
func (b *builder) providerRef(r *sluice.Resource) string {
	if r.Type.IsProvider() {
		return urn.ProviderRef{URN: r.URN, ID: r.ID}.String()
	}
	return r.Provider
}

// mention returns the variable of another resource. One without a name is noted: people have to find it themselves.
func (b *builder) mention(u urn.URN, what string) string {
	if v, ok := b.variables[u]; ok {
		return v
	}
	b.current.notes = append(b.current.notes, fmt.Sprintf("Its %s is %s, which has no name here: add it as an option.", what, u))
	return ""
}

// typed makes the properties of a shape, in the schema's order. What is required and not there gets a value that people can
// see is none.
func (b *builder) typed(s *shape, m property.Map, isSecret bool, path []string) []field {
	var out []field
	for _, p := range s.properties {
		v, ok := m.Get(p.name)
		if inner, _ := v.Unwrap(); !ok || inner.IsNull() || inner.IsUnknown() {
			if p.isRequired {
				out = append(out, field{p.name, p, zero(p)})
				b.note("%s is required, but nothing is recorded for it.", place(path, p.name))
			}
			continue
		}
		out = append(out, field{p.name, p, b.value(v, p.typ, isSecret || p.isSecret, append(slices.Clone(path), p.name))})
	}
	for _, name := range m.Names() {
		if _, ok := s.property(name); !ok && !property.IsInternalName(name) {
			b.note("%s is recorded, but the schema does not have it.", place(path, name))
		}
	}
	return out
}

// place says where in the resource something is.
func place(path []string, more ...string) string {
	return strings.Join(slices.Concat(path[1:], more), ".")
}

func (b *builder) note(format string, args ...any) {
	b.current.notes = append(b.current.notes, fmt.Sprintf(format, args...))
}

func (b *builder) untyped(m property.Map, isSecret bool, path []string) []field {
	var out []field
	for _, name := range slices.Sorted(maps.Keys(m.Mutable())) {
		v := m.At(name)
		if inner, _ := v.Unwrap(); inner.IsNull() || inner.IsUnknown() {
			continue
		}
		out = append(out, field{name: name, value: b.value(v, nil, isSecret, append(slices.Clone(path), name))})
	}
	return out
}

// zero is a value of a type.
func zero(p propertySpec) expression {
	if len(p.constant) > 0 {
		var v any
		if json.Unmarshal(p.constant, &v) == nil {
			if text, ok := v.(string); ok {
				return literal{property.String(text), p.typ}
			}
		}
	}
	switch p.typ.kindOf() {
	case boolKind:
		return literal{property.Bool(false), p.typ}
	case integerKind, numberKind:
		return literal{property.Number(0), p.typ}
	case stringKind, enumKind:
		return literal{property.String(""), p.typ}
	case arrayKind:
		return list{typ: p.typ}
	case mapKind, objectKind:
		return object{typ: p.typ}
	}
	return literal{property.Null, p.typ}
}

func (t *typeSpec) kindOf() kind {
	if t == nil {
		return anyKind
	}
	return t.kind
}

// value makes an expression of a value that should have the given type; where it has not, it is written as it is.
func (b *builder) value(v property.Value, t *typeSpec, isSecret bool, path []string) expression {
	inner, marked := v.Unwrap()
	isSecret = isSecret || marked
	if isSecret && b.program.ShowSecrets && marked {
		return secretly{b.value(inner, t, false, path)}
	}
	if isSecret && b.program.ShowSecrets {
		isSecret = false // its schema makes it secret
	}
	t = b.narrowed(t, inner)
	switch {
	case inner.IsArray():
		return b.array(inner.AsArray(), t, isSecret, path)
	case inner.IsMap():
		return b.object(inner.AsMap(), t, isSecret, path)
	case inner.IsAsset(), inner.IsArchive():
		return b.file(inner, isSecret, path)
	case inner.IsReference():
		return b.referenceTo(inner.AsReference(), t)
	case isSecret && !inner.IsNull() && !inner.IsUnknown():
		return b.setting(inner, t, path)
	case inner.IsString():
		if variable := b.ids[inner.AsString()]; variable != "" && variable != b.current.variable && t.holdsText() {
			b.current.mentions = append(b.current.mentions, variable)
			return idOf{variable, t}
		}
		switch t.kindOf() {
		case assetKind:
			return asset{"FileAsset", inner.AsString()}
		case archiveKind:
			return asset{"FileArchive", inner.AsString()}
		}
	case inner.IsNull(), inner.IsUnknown():
		return literal{property.Null, t}
	}
	return literal{inner, t}
}

func (t *typeSpec) holdsText() bool { return t.kindOf() == stringKind || t.kindOf() == anyKind }

func (b *builder) array(a property.Array, t *typeSpec, isSecret bool, path []string) expression {
	out := list{typ: t}
	var element *typeSpec
	if t.kindOf() == arrayKind {
		element = t.element
	} else {
		out.typ = nil
	}
	for i := range a.Len() {
		out.items = append(out.items, b.value(a.At(i), element, isSecret, append(slices.Clone(path), fmt.Sprint(i))))
	}
	return out
}

func (b *builder) object(m property.Map, t *typeSpec, isSecret bool, path []string) expression {
	switch t.kindOf() {
	case objectKind:
		if s := b.current.pkg.named(t.token); s != nil {
			return object{fields: b.typed(s, m, isSecret, path), typ: t}
		}
	case mapKind:
		out := object{typ: t}
		for _, name := range slices.Sorted(maps.Keys(m.Mutable())) {
			value := b.value(m.At(name), t.element, isSecret, append(slices.Clone(path), name))
			out.fields = append(out.fields, field{name: name, value: value})
		}
		return out
	}
	return object{fields: b.untyped(m, isSecret, path)}
}

// file makes an asset or an archive. The text of a secret one is not shown.
func (b *builder) file(v property.Value, isSecret bool, path []string) expression {
	if v.IsAsset() {
		a := v.AsAsset()
		switch {
		case a.Path != "":
			return asset{"FileAsset", a.Path}
		case a.URI != "":
			return asset{"RemoteAsset", a.URI}
		case isSecret:
			b.note("The text of %s is secret and not shown.", place(path))
			return asset{"StringAsset", ""}
		}
		return asset{"StringAsset", a.Text}
	}
	a := v.AsArchive()
	switch {
	case a.Path != "":
		return asset{"FileArchive", a.Path}
	case a.URI != "":
		return asset{"RemoteArchive", a.URI}
	}
	out := members{}
	for _, name := range slices.Sorted(maps.Keys(a.Members.Mutable())) {
		out.fields = append(out.fields, field{name: name, value: b.file(a.Members.At(name), isSecret, append(slices.Clone(path), name))})
	}
	return out
}

// referenceTo refers to a resource that occurs as a value: by its ID, as that is what is recorded of it.
func (b *builder) referenceTo(r property.Reference, t *typeSpec) expression {
	if variable, ok := b.variables[r.URN]; ok && variable != b.current.variable {
		b.current.mentions = append(b.current.mentions, variable)
		return idOf{variable, t}
	}
	if r.ID.IsString() {
		return literal{r.ID, t}
	}
	return literal{property.Null, t}
}

// setting reads a secret from the configuration, under a key made of its place.
func (b *builder) setting(v property.Value, t *typeSpec, path []string) expression {
	key := identifier(strings.Join(path, "-"))
	unused := key
	for i := 2; b.keys[unused]; i++ {
		unused = fmt.Sprintf("%s%d", key, i)
	}
	b.keys[unused] = true
	b.settings = append(b.settings, unused)
	switch {
	case v.IsBool():
		t = &typeSpec{kind: boolKind}
	case v.IsNumber() && t.kindOf() == integerKind:
	case v.IsNumber():
		t = &typeSpec{kind: numberKind}
	default:
		t = &typeSpec{kind: stringKind}
	}
	return setting{unused, t}
}
