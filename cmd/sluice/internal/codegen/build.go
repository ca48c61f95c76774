package codegen

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// newDocument makes the decisions that are the same for all languages.
func newDocument(p Program, n naming) *document {
	b := &builder{program: p, variables: variablesOf(p, n)}
	b.findIDs()
	doc := b.build()
	sorted, ok := sortDeclarations(doc.resources)
	if !ok {
		// If two resources have each other's ID among their inputs, the IDs are written as literals.
		b.ids = nil
		doc = b.build()
		sorted, _ = sortDeclarations(doc.resources)
	}
	doc.resources = sorted
	doc.noteUse()
	return doc
}

// builder makes declarations from states.
type builder struct {
	program   Program
	variables map[urn.URN]string
	ids       map[string]string // IDs that exactly one of the resources has -> its variable
	keys      map[string]bool   // the keys of settings that are used
	settings  []string
	current   *declaration
	isPlain   bool // the property that is being built does not accept outputs
	zeros     int  // the number of placeholders in the current declaration
}

// mostZeros is the number of placeholders from which a declaration gets no more of them inside of objects: types that require each other can
// need any number.
const mostZeros = 1000

// shortestID is the length from which a text equal to an ID is taken for a reference: shorter ones are often words.
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

func (b *builder) declare(r *state.Resource) *declaration {
	d := &declaration{state: r, variable: b.variables[r.URN], token: r.Type, isLocal: !r.Custom && r.Provider == ""}
	b.current, b.zeros = d, 0
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

// providerRef returns the reference under which the schema for a resource is stored.
func (b *builder) providerRef(r *state.Resource) string {
	if r.Type.IsProvider() {
		return urn.ProviderRef{URN: r.URN, ID: r.ID}.String()
	}
	return r.Provider
}

// mention returns the variable of another resource. For a resource without a variable it adds a note, so that people
// replace the reference themselves.
func (b *builder) mention(u urn.URN, what string) string {
	if v, ok := b.variables[u]; ok {
		return v
	}
	b.current.notes = append(b.current.notes, fmt.Sprintf("Its %s is %s, which has no name here: add it as an option.", what, u))
	return ""
}

// typed returns the properties of a shape, in the order of the schema. A missing required property gets a placeholder
// that people recognize.
func (b *builder) typed(s *shape, m property.Map, isSecret bool, path []string) []field {
	var out []field
	for _, p := range s.properties {
		v, ok := m.Get(p.name)
		if inner, _ := v.Unwrap(); !ok || inner.IsNull() || inner.IsUnknown() {
			if p.isRequired {
				out = append(out, field{p.name, p, b.zero(p)})
				b.note("%s is required, but nothing is recorded for it.", place(path, p.name))
			}
			continue
		}
		if b.current.token.IsProvider() && len(path) == 1 {
			v = decoded(v, p.typ)
		}
		outer := b.isPlain
		b.isPlain = p.isPlain
		out = append(out, field{p.name, p, b.value(v, p.typ, isSecret || p.isSecret, append(slices.Clone(path), p.name))})
		b.isPlain = outer
	}
	for _, name := range m.Names() {
		if _, ok := s.property(name); !ok && !property.IsInternalName(name) {
			b.note("%s is recorded, but the schema does not have it.", place(path, name))
		}
	}
	return out
}

// decoded returns an input of a provider: SDKs send those that are no texts as JSON, and declarations have the values.
func decoded(v property.Value, t *typeSpec) property.Value {
	inner, isSecret := v.Unwrap()
	switch t.kindOf() {
	case anyKind, stringKind, enumKind, unionKind, assetKind, archiveKind:
		return v
	}
	var raw any
	if !inner.IsString() || json.Unmarshal([]byte(inner.AsString()), &raw) != nil {
		return v
	}
	value := valueOfJSON(raw)
	if isSecret {
		value = property.Secret(value)
	}
	return value
}

// valueOfJSON converts decoded JSON.
func valueOfJSON(raw any) property.Value {
	switch raw := raw.(type) {
	case []any:
		var elements []property.Value
		for _, e := range raw {
			elements = append(elements, valueOfJSON(e))
		}
		return property.ArrayOf(elements...)
	case map[string]any:
		m := map[string]property.Value{}
		for name, e := range raw {
			m[name] = valueOfJSON(e)
		}
		return property.Of(property.NewMap(m))
	}
	return scalarOf(raw)
}

// place formats a location inside a resource.
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

// zero returns a value of a type. An object gets its required properties, unless it contains itself.
func (b *builder) zero(p propertySpec, within ...urn.Type) expression {
	if len(p.constant) > 0 {
		var v any
		if json.Unmarshal(p.constant, &v) == nil {
			if value := scalarOf(v); !value.IsNull() {
				return literal{value, p.typ}
			}
		}
	}
	switch t := p.typ; t.kindOf() {
	case boolKind:
		return literal{property.Bool(false), t}
	case integerKind, numberKind:
		return literal{property.Number(0), t}
	case stringKind:
		return literal{property.String(""), t}
	case anyKind:
		if t == nil || !t.isForeign {
			return literal{property.String(""), t} // null would count as missing
		}
	case enumKind:
		if enum := b.current.pkg.named(t.token); enum != nil && len(enum.members) > 0 {
			return literal{enum.members[0].value, t}
		}
		return literal{property.String(""), t}
	case arrayKind:
		return list{typ: t}
	case mapKind:
		return object{typ: t}
	case objectKind:
		out := object{typ: t}
		if named := b.current.pkg.named(t.token); named != nil && !slices.Contains(within, t.token) {
			for _, p := range named.properties {
				if b.zeros++; p.isRequired && b.zeros < mostZeros {
					out.fields = append(out.fields, field{p.name, p, b.zero(p, append(slices.Clone(within), t.token)...)})
				}
			}
		}
		return out
	}
	return literal{property.Null, p.typ}
}

// value returns the expression for a value of the given type. A value of another type is written unchanged.
func (b *builder) value(v property.Value, t *typeSpec, isSecret bool, path []string) expression {
	inner, marked := v.Unwrap()
	isSecret = isSecret || marked
	if isSecret && b.program.ShowSecrets && marked && !b.isPlain {
		return secretly{b.value(inner, t, false, path)}
	}
	if isSecret && b.program.ShowSecrets {
		isSecret = false // the schema makes it secret
	}
	declared := t
	t = b.current.pkg.narrowed(t, inner)
	if isForeign := declared != nil && declared.isForeign; (isForeign || t == nil && declared.kindOf() != anyKind) &&
		!inner.IsNull() && !inner.IsUnknown() && !inner.IsReference() {
		return mismatched{b.value(inner, nil, isSecret, path)}
	}
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
		if variable := b.ids[inner.AsString()]; variable != "" && variable != b.current.variable && t.holdsText() && !b.isPlain {
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

// file returns the expression for an asset or an archive. It leaves out the text of a secret one.
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

// referenceTo refers to a resource that occurs as a value. It refers to the ID, because that is what the state records.
func (b *builder) referenceTo(r property.Reference, t *typeSpec) expression {
	if variable, ok := b.variables[r.URN]; ok && variable != b.current.variable && !b.isPlain {
		b.current.mentions = append(b.current.mentions, variable)
		return idOf{variable, t}
	}
	if r.ID.IsString() {
		return literal{r.ID, t}
	}
	return literal{property.Null, t}
}

// setting reads a secret from the configuration. The key is derived from the path of the secret.
func (b *builder) setting(v property.Value, t *typeSpec, path []string) expression {
	variable := strings.ReplaceAll(path[0], "_", "-") // of a language that writes my_bucket
	key := identifier(strings.Join(append([]string{variable}, path[1:]...), "-"))
	unused := key
	for i := 2; b.keys[unused]; i++ {
		unused = fmt.Sprintf("%s%d", key, i)
	}
	b.keys[unused] = true
	b.settings = append(b.settings, unused)
	var enum *typeSpec
	if t.kindOf() == enumKind {
		enum, t = t, t.element
	}
	switch {
	case v.IsBool():
		t = &typeSpec{kind: boolKind}
	case v.IsNumber() && t.kindOf() == integerKind:
	case v.IsNumber():
		t = &typeSpec{kind: numberKind}
	default:
		t = &typeSpec{kind: stringKind}
	}
	return setting{unused, t, enum, b.isPlain}
}
