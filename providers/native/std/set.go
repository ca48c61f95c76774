package std

import (
	"errors"
	"slices"
	"strconv"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers/native"
)

func setFunctions() []native.Function {
	return []native.Function{
		ofList("distinct", "The elements without those that were there before.", listType(), func(l []property.Value) (property.Value, error) {
			return property.ArrayOf(distinct(l)...), nil
		}),
		ofList("coalesce", "The first value that is neither null nor an empty text, in the type that all have in common.", anyType(), coalesce),
		fn("setintersection", "The elements that are in all lists, in the order of the first.", listType(), intersection,
			arg("input", native.ArrayOf(listType()))),
	}
}

func distinct(l []property.Value) []property.Value {
	var out []property.Value
	for _, v := range l {
		if !slices.ContainsFunc(out, func(other property.Value) bool { return property.Equal(v, other) }) {
			out = append(out, v)
		}
	}
	return out
}

func coalesce(l []property.Value) (property.Value, error) {
	common, err := alike(l)
	if err != nil {
		return property.Null, err
	}
	for _, v := range common {
		if !v.IsNull() && !(v.IsString() && v.AsString() == "") {
			return v, nil
		}
	}
	return property.Null, errors.New("all values are null or empty")
}

// alike converts all values to strings if one is a string. Otherwise all have to be numbers, or all booleans. Null stays.
func alike(l []property.Value) ([]property.Value, error) {
	var texts, numbers, flags bool
	for _, v := range l {
		switch {
		case v.IsString():
			texts = true
		case v.IsNumber():
			numbers = true
		case v.IsBool():
			flags = true
		case !v.IsNull():
			return nil, errors.New("a value is neither a text nor a number nor a truth value")
		}
	}
	switch {
	case !texts && numbers && flags:
		return nil, errors.New("there are numbers and truth values, which have no type in common")
	case !texts:
		return l, nil
	}
	out := make([]property.Value, len(l))
	for i, v := range l {
		out[i], _ = asText(v) // values without a text were refused
	}
	return out, nil
}

// asText converts numbers and booleans to strings; null stays. ok is false for a value that has no text.
func asText(v property.Value) (text property.Value, ok bool) {
	switch {
	case v.IsNumber():
		return native.Text(strconv.FormatFloat(v.AsNumber(), 'f', -1, 64)), true
	case v.IsBool():
		return native.Text(strconv.FormatBool(v.AsBool())), true
	}
	return v, v.IsString() || v.IsNull()
}

func intersection(in native.Values) (property.Value, error) {
	var all []property.Value
	var sizes []int
	for _, l := range in.List("input") {
		all = append(all, elements(l)...)
		sizes = append(sizes, l.AsArray().Len())
	}
	all, err := alike(all)
	if err != nil || len(sizes) == 0 {
		return property.ArrayOf(), err
	}
	out := distinct(all[:sizes[0]])
	rest := all[sizes[0]:]
	for _, n := range sizes[1:] {
		these := rest[:n]
		rest = rest[n:]
		out = slices.DeleteFunc(out, func(v property.Value) bool {
			return !slices.ContainsFunc(these, func(other property.Value) bool { return property.Equal(v, other) })
		})
	}
	return property.ArrayOf(out...), nil
}
