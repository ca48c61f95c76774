package native

import (
	"math"

	"github.com/sluice-iac/sluice/property"
)

// Values are properties as a description's functions read them: without secrets, with nothing unknown, and of the types
// that the description gives. Reading what is not there gives the zero value.
type Values struct{ m property.Map }

// ValuesOf returns m without what is secret about it.
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

// Text, Int, Number and Bool return scalars.
func (v Values) Text(name string) string { return v.m.At(name).AsString() }

// Int returns an integer.
func (v Values) Int(name string) int { return int(v.m.At(name).AsNumber()) }

// Number returns a number.
func (v Values) Number(name string) float64 { return v.m.At(name).AsNumber() }

// Bool returns a truth value.
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

// Text, Int, Bool and Texts make values.
func Text(s string) property.Value { return property.String(s) }

// Int makes a number of an integer.
func Int[T ~int | ~int64](i T) property.Value { return property.Number(float64(i)) }

// Bool makes a truth value.
func Bool(b bool) property.Value { return property.Bool(b) }

// Texts makes a list of strings.
func Texts(ss []string) property.Value {
	out := make([]property.Value, len(ss))
	for i, s := range ss {
		out[i] = property.String(s)
	}
	return property.ArrayOf(out...)
}

// Object makes an object.
func Object(m Outputs) property.Value { return property.Of(property.NewMap(m)) }

func isInteger(f float64) bool { return f == math.Trunc(f) && !math.IsInf(f, 0) }
