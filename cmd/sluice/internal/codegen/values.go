package codegen

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sluice-iac/sluice/property"
)

// zero returns a value of a type.
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

// value returns the expression for a value of the given type. A value of another type is written unchanged.
func (b *builder) value(v property.Value, t *typeSpec, isSecret bool, path []string) expression {
	inner, marked := v.Unwrap()
	isSecret = isSecret || marked
	if isSecret && b.program.ShowSecrets && marked {
		return secretly{b.value(inner, t, false, path)}
	}
	if isSecret && b.program.ShowSecrets {
		isSecret = false // the schema makes it secret
	}
	t = b.current.pkg.narrowed(t, inner)
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
	if variable, ok := b.variables[r.URN]; ok && variable != b.current.variable {
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
