package native

import (
	"math"

	"github.com/sluice-iac/sluice/property"
)

// Values are properties in the form for a description's functions: without secrets and unknowns, and of the types in
// the description. A property that is missing reads as the zero value.
type Values struct{ m property.Map }

// ValuesOf returns m without its secret marks.
func ValuesOf(m property.Map) Values { return Values{m.StripSecretsAndOutputs()} }

// Has reports whether there is a value that is known and not null.
func (v Values) Has(name string) bool {
	value, ok := v.m.Get(name)
	return ok && !value.IsNull() && !value.HasUnknowns()
}

// Map returns all properties.
func (v Values) Map() property.Map { return v.m }

// Value returns a property as it is.
func (v Values) Value(name string) property.Value { return v.m.At(name) }

// Text returns a string.
func (v Values) Text(name string) string { return v.m.At(name).AsString() }

// Int returns an integer.
func (v Values) Int(name string) int { return int(v.m.At(name).AsNumber()) }

// Number returns a number.
func (v Values) Number(name string) float64 { return v.m.At(name).AsNumber() }

// Bool returns a boolean.
func (v Values) Bool(name string) bool { return v.m.At(name).AsBool() }

// Object returns the properties of an object.
func (v Values) Object(name string) Values { return Values{v.m.At(name).AsMap()} }

// List returns the elements of a list.
func (v Values) List(name string) []property.Value {
	var out []property.Value
	for _, e := range v.m.At(name).AsArray().All() {
		out = append(out, e)
	}
	return out
}

// Texts returns a list of strings.
func (v Values) Texts(name string) []string {
	var out []string
	for _, e := range v.List(name) {
		out = append(out, e.AsString())
	}
	return out
}

// TextMap returns an object of strings.
func (v Values) TextMap(name string) map[string]string {
	out := map[string]string{}
	for k, e := range v.m.At(name).AsMap().All() {
		out[k] = e.AsString()
	}
	return out
}

// Text makes a value of a string.
func Text(s string) property.Value { return property.String(s) }

// Int makes a value of an integer.
func Int[T ~int | ~int64](i T) property.Value { return property.Number(float64(i)) }

// Bool makes a value of a boolean.
func Bool(b bool) property.Value { return property.Bool(b) }

// Texts makes a value of a list of strings.
func Texts(ss []string) property.Value {
	out := make([]property.Value, len(ss))
	for i, s := range ss {
		out[i] = property.String(s)
	}
	return property.ArrayOf(out...)
}

// Object makes a value of an object.
func Object(m Outputs) property.Value { return property.Of(property.NewMap(m)) }

func isInteger(f float64) bool { return f == math.Trunc(f) && !math.IsInf(f, 0) }
