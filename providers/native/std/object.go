package std

import (
	"errors"
	"fmt"
	"slices"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers/native"
)

func objectFunctions() []native.Function {
	return []native.Function{
		fn("keys", "The names of properties, in order.", textsType(), func(in native.Values) (property.Value, error) {
			return native.Texts(in.Object("input").Map().Names()), nil
		}, arg("input", objectType())),
		fn("values", "The values of properties, in the order of their names.", listType(), func(in native.Values) (property.Value, error) {
			m := in.Object("input").Map()
			var out []property.Value
			for _, name := range m.Names() {
				out = append(out, m.At(name))
			}
			return property.ArrayOf(out...), nil
		}, arg("input", objectType())),
		fn("lookup", "A property, or the default if it is not there.", anyType(), func(in native.Values) (property.Value, error) {
			if v, ok := in.Object("map").Map().Get(in.Text("key")); ok {
				return v, nil
			}
			if in.Has("default") {
				return in.Value("default"), nil
			}
			return property.Null, fmt.Errorf("there is no property %q, and no default", in.Text("key"))
		}, optional("default", anyType()), arg("key", textType()), arg("map", objectType())),
		fn("map", "An object of names and values by turns.", objectType(), func(in native.Values) (property.Value, error) {
			args, out := in.List("args"), native.Outputs{}
			if len(args)%2 != 0 {
				return property.Null, errors.New("the last name has no value")
			}
			for i := 0; i < len(args); i += 2 {
				if !args[i].IsString() {
					return property.Null, fmt.Errorf("argument %d is a name and must be a text", i)
				}
				out[args[i].AsString()] = args[i+1]
			}
			return native.Object(out), nil
		}, arg("args", listType())),
		fn("merge", "The properties of all objects; of those with one name the last.", objectType(),
			func(in native.Values) (property.Value, error) {
				out := native.Outputs{}
				for _, m := range in.List("input") {
					for name, v := range m.AsMap().All() {
						out[name] = v
					}
				}
				return native.Object(out), nil
			}, arg("input", native.ArrayOf(objectType()))),
		fn("zipmap", "An object of names and their values.", objectType(), func(in native.Values) (property.Value, error) {
			names, values, out := in.Texts("keys"), in.List("values"), native.Outputs{}
			if len(names) != len(values) {
				return property.Null, fmt.Errorf("there are %d keys and %d values", len(names), len(values))
			}
			for i, name := range names {
				out[name] = values[i]
			}
			return native.Object(out), nil
		}, arg("keys", textsType()), arg("values", listType())),
		fn("transpose", "For every text in the lists, the names of the lists that have it.", native.MapOf(textsType()), transpose,
			arg("input", native.MapOf(textsType()))),
		fn("length", "How many bytes a text, elements a list or properties an object has.", native.Of(native.KindInteger), length,
			arg("input", anyType())),
	}
}

func transpose(in native.Values) (property.Value, error) {
	m, names := in.Object("input").Map(), map[string][]string{}
	for _, name := range m.Names() {
		for _, v := range elements(m.At(name)) {
			names[v.AsString()] = append(names[v.AsString()], name)
		}
	}
	out := native.Outputs{}
	for text, list := range names {
		slices.Sort(list)
		out[text] = native.Texts(list)
	}
	return native.Object(out), nil
}

func length(in native.Values) (property.Value, error) {
	switch v := in.Value("input"); {
	case v.IsString():
		return native.Int(len(v.AsString())), nil
	case v.IsArray():
		return native.Int(v.AsArray().Len()), nil
	case v.IsMap():
		return native.Int(v.AsMap().Len()), nil
	}
	return property.Null, errors.New("input must be a text, a list or an object")
}
