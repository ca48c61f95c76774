package std

import (
	"context"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers/native"
)

// The types of arguments and results.
func textType() native.Type   { return native.Of(native.KindString) }
func numberType() native.Type { return native.Of(native.KindNumber) }
func flagType() native.Type   { return native.Of(native.KindBoolean) }
func anyType() native.Type    { return native.Of(native.KindAny) }
func textsType() native.Type  { return native.ArrayOf(textType()) }
func listType() native.Type   { return native.ArrayOf(anyType()) }
func objectType() native.Type { return native.MapOf(anyType()) }

// fn describes a function with a single output named result.
func fn(name, doc string, result native.Type, call func(native.Values) (property.Value, error), args ...native.Field) native.Function {
	return native.Function{
		Token: "std:index:" + name, Doc: doc, Inputs: args,
		Outputs: []native.Field{{Name: "result", Type: result, Required: true}},
		Call: func(_ context.Context, c native.Call) (native.Outputs, error) {
			v, err := call(c.Inputs)
			return native.Outputs{"result": v}, err
		},
	}
}

// arg describes a required argument.
func arg(name string, t native.Type) native.Field {
	return native.Field{Name: name, Type: t, Required: true}
}

func optional(name string, t native.Type) native.Field { return native.Field{Name: name, Type: t} }

// ofText makes a function from a string to a string.
func ofText(name, doc string, f func(string) string) native.Function {
	return fn(name, doc, textType(), func(in native.Values) (property.Value, error) {
		return native.Text(f(in.Text("input"))), nil
	}, arg("input", textType()))
}

// ofTextOrError makes a function from a string to a string that may fail.
func ofTextOrError(name, doc string, f func(string) (string, error)) native.Function {
	return fn(name, doc, textType(), func(in native.Values) (property.Value, error) {
		s, err := f(in.Text("input"))
		return native.Text(s), err
	}, arg("input", textType()))
}
