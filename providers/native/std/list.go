package std

import (
	"errors"
	"fmt"
	"slices"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers/native"
)

func listFunctions() []native.Function {
	lists := native.ArrayOf(listType())
	number := native.Of(native.KindInteger)
	return []native.Function{
		ofList("alltrue", "Whether all elements are true, as truth values or as texts.", flagType(),
			func(l []property.Value) (property.Value, error) {
				return native.Bool(!slices.ContainsFunc(l, func(v property.Value) bool { return !isTrue(v) })), nil
			}),
		ofList("anytrue", "Whether an element is true, as a truth value or as a text.", flagType(),
			func(l []property.Value) (property.Value, error) {
				return native.Bool(slices.ContainsFunc(l, isTrue)), nil
			}),
		ofList("compact", "The texts that are not empty.", textsType(), compact),
		ofList("flatten", "The elements of lists in lists.", listType(), func(l []property.Value) (property.Value, error) {
			return property.ArrayOf(flat(l)...), nil
		}),
		ofList("reverse", "The elements from the last to the first.", listType(), func(l []property.Value) (property.Value, error) {
			slices.Reverse(l)
			return property.ArrayOf(l...), nil
		}),
		fn("chunklist", "Lists of as many elements as wanted.", listType(), chunks, arg("input", listType()), arg("size", number)),
		fn("concat", "The elements of lists.", listType(), func(in native.Values) (property.Value, error) {
			var out []property.Value
			for _, l := range in.List("input") {
				out = append(out, elements(l)...)
			}
			return property.ArrayOf(out...), nil
		}, arg("input", lists)),
		fn("coalescelist", "The first list that is not empty.", listType(), func(in native.Values) (property.Value, error) {
			for _, l := range in.List("input") {
				if l.AsArray().Len() > 0 {
					return l, nil
				}
			}
			return property.Null, errors.New("all lists are empty")
		}, arg("input", lists)),
		fn("contains", "Whether a list has an element.", flagType(), func(in native.Values) (property.Value, error) {
			return native.Bool(find(in) >= 0), nil
		}, arg("element", anyType()), arg("input", listType())),
		fn("index", "Where an element is in a list.", number, func(in native.Values) (property.Value, error) {
			if i := find(in); i >= 0 {
				return native.Int(i), nil
			}
			return property.Null, errors.New("the list does not have the element")
		}, arg("element", anyType()), arg("input", listType())),
		fn("element", "An element of a list, in which one may count on beyond its ends.", anyType(),
			func(in native.Values) (property.Value, error) {
				l, i := in.List("input"), in.Int("index")
				if len(l) == 0 {
					return property.Null, errors.New("the list is empty")
				}
				return l[(i%len(l)+len(l))%len(l)], nil
			}, arg("index", number), arg("input", listType())),
		fn("slice", "The elements from one to another, which is not one of them; negative ones count from the end.", listType(), slice,
			optional("from", number), arg("list", listType()), optional("to", number)),
		fn("sort", "Texts in the order of their bytes.", textsType(), func(in native.Values) (property.Value, error) {
			return native.Texts(slices.Sorted(slices.Values(in.Texts("input")))), nil
		}, arg("input", textsType())),
	}
}

func ofList(name, doc string, result native.Type, f func([]property.Value) (property.Value, error)) native.Function {
	return fn(name, doc, result, func(in native.Values) (property.Value, error) { return f(in.List("input")) }, arg("input", listType()))
}

func elements(v property.Value) []property.Value {
	var out []property.Value
	for _, e := range v.AsArray().All() {
		out = append(out, e)
	}
	return out
}

func isTrue(v property.Value) bool { return v.AsBool() || v.AsString() == "true" }

func compact(l []property.Value) (property.Value, error) {
	var out []string
	for _, v := range l {
		if !v.IsString() && !v.IsNull() {
			return property.Null, errors.New("an element is not a text")
		}
		if v.AsString() != "" {
			out = append(out, v.AsString())
		}
	}
	return native.Texts(out), nil
}

func flat(l []property.Value) []property.Value {
	var out []property.Value
	for _, v := range l {
		if v.IsArray() {
			out = append(out, flat(elements(v))...)
		} else {
			out = append(out, v)
		}
	}
	return out
}

func chunks(in native.Values) (property.Value, error) {
	l, size := in.List("input"), in.Int("size")
	if size < 1 {
		return property.Null, fmt.Errorf("the size is %d; it must be at least 1", size)
	}
	var out []property.Value
	for chunk := range slices.Chunk(l, size) {
		out = append(out, property.ArrayOf(chunk...))
	}
	return property.ArrayOf(out...), nil
}

// find returns the index of the element in the list; -1 if the list does not have it.
func find(in native.Values) int {
	return slices.IndexFunc(in.List("input"), func(v property.Value) bool { return property.Equal(v, in.Value("element")) })
}

func slice(in native.Values) (property.Value, error) {
	l := in.List("list")
	from, to := 0, len(l)
	for name, at := range map[string]*int{"from": &from, "to": &to} {
		if !in.Has(name) {
			continue
		}
		if *at = in.Int(name); *at < 0 {
			*at += len(l)
		}
		if *at < 0 || *at > len(l) {
			return property.Null, fmt.Errorf("%s is %d, and the list has %d elements", name, in.Int(name), len(l))
		}
	}
	if from > to {
		return property.Null, fmt.Errorf("from is %d, after to, which is %d", from, to)
	}
	return property.ArrayOf(l[from:to]...), nil
}
