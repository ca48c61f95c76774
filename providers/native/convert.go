package native

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/sluice-iac/sluice/property"
)

// conform returns v in the form of t, with the defaults of records. It converts strings to numbers and booleans and the
// other way round, since programs write them and providers have always accepted them. Null and unknown values stay. It
// calls complain for values that do not fit.
func conform(v property.Value, t Type, path string, complain func(path, reason string)) property.Value {
	inner, secret := v.Unwrap()
	if v.IsOutput() || secret {
		out := conform(inner, t, path, complain)
		if secret {
			return property.MakeSecret(out)
		}
		return out
	}
	if v.IsNull() || v.IsUnknown() {
		return v
	}
	switch t.Kind {
	case KindArray:
		return conformArray(v, t, path, complain)
	case KindMap, KindRecord:
		return conformObject(v, t, path, complain)
	}
	out, ok := conformScalar(v, t)
	if !ok {
		complain(path, "must be "+t.described())
	}
	return out
}

func conformScalar(v property.Value, t Type) (property.Value, bool) {
	switch t.Kind {
	case KindString:
		v = asText(v)
		return v, v.IsString() && (t.Enum == nil || slices.Contains(t.Enum, v.AsString()))
	case KindInteger, KindNumber:
		if f, err := strconv.ParseFloat(v.AsString(), 64); v.IsString() && err == nil {
			v = property.Number(f)
		}
		return v, v.IsNumber() && (t.Kind == KindNumber || isInteger(v.AsNumber()))
	case KindBoolean:
		if b, err := strconv.ParseBool(v.AsString()); v.IsString() && err == nil {
			v = property.Bool(b)
		}
		return v, v.IsBool()
	case KindAsset:
		return v, v.IsAsset() || v.IsArchive()
	case KindArchive:
		return v, v.IsArchive()
	}
	return v, true
}

func asText(v property.Value) property.Value {
	switch {
	case v.IsNumber():
		return property.String(strconv.FormatFloat(v.AsNumber(), 'f', -1, 64))
	case v.IsBool():
		return property.String(strconv.FormatBool(v.AsBool()))
	}
	return v
}

func conformArray(v property.Value, t Type, path string, complain func(path, reason string)) property.Value {
	if !v.IsArray() {
		complain(path, "must be "+t.described())
		return v
	}
	var out []property.Value
	for i, e := range v.AsArray().All() {
		out = append(out, conform(e, *t.Elem, fmt.Sprintf("%s[%d]", path, i), complain))
	}
	return property.ArrayOf(out...)
}

func conformObject(v property.Value, t Type, path string, complain func(path, reason string)) property.Value {
	if !v.IsMap() {
		complain(path, "must be "+t.described())
		return v
	}
	if t.Kind == KindRecord {
		return property.Of(conformFields(v.AsMap(), t.Fields, path+".", complain))
	}
	out := map[string]property.Value{}
	for k, e := range v.AsMap().All() {
		out[k] = conform(e, *t.Elem, path+"."+k, complain)
	}
	return property.Of(property.NewMap(out))
}

// conformFields returns the properties of fields that m has, in their form and with defaults for missing ones. Null
// counts as missing. It complains about other properties, unless they belong to SDKs.
func conformFields(m property.Map, fields []Field, prefix string, complain func(path, reason string)) property.Map {
	out, known := map[string]property.Value{}, map[string]bool{}
	for _, f := range fields {
		known[f.Name] = true
		v, _ := m.Get(f.Name)
		if inner, _ := v.Unwrap(); inner.IsNull() {
			if f.Required && !f.Nullable {
				complain(prefix+f.Name, "is required and missing")
			}
			v = f.Default
		}
		if v.IsNull() {
			continue
		}
		v = conform(v, f.Type, prefix+f.Name, complain)
		if f.Secret {
			v = property.MakeSecret(v)
		}
		out[f.Name] = v
	}
	for _, name := range m.Names() {
		if !known[name] && !property.IsInternalName(name) {
			complain(prefix+name, "is not a property of this; there are "+names(fields))
		}
	}
	return property.NewMap(out)
}

// quietly ignores complaints about values that have been checked before, or come from a state that another version wrote.
func quietly(string, string) {}

func names(fields []Field) string {
	var out []string
	for _, f := range fields {
		out = append(out, f.Name)
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}
