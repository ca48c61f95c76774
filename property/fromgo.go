package property

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strconv"
)

// FromGo converts a Go value, as the inverse of [ToGo]: nil, bools, numbers, texts, slices, maps with texts as keys, and values of this package,
// at any depth. Unlike in [FromJSON], which is for the state, no key or text has a special meaning. The error is a [*ValueError] for anything
// else, and for a whole number that is not exact as a float64.
func FromGo(v any) (Value, error) {
	out, err := fromGo(v, 0)
	return out, outermost(err, "")
}

func fromGo(v any, depth int) (Value, error) {
	if depth > MaxDepth {
		return Null, &LimitError{What: limitDepth, Limit: MaxDepth}
	}
	switch v := v.(type) {
	case nil:
		return Null, nil
	case Value:
		return v, nil
	case Array:
		return Of(v), nil
	case Map:
		return Of(v), nil
	case Asset:
		return Of(v), nil
	case Archive:
		return Of(v), nil
	case Reference:
		return Of(v), nil
	case json.Number:
		f, err := strconv.ParseFloat(v.String(), 64)
		if err != nil {
			return Null, &ValueError{before: "the number at property ", after: " has no value", Err: err}
		}
		return Number(f), nil
	}
	return reflected(reflect.ValueOf(v), depth)
}

// reflected is fromGo for Go's own kinds.
func reflected(v reflect.Value, depth int) (Value, error) {
	switch v.Kind() {
	case reflect.Bool:
		return Bool(v.Bool()), nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return exact(float64(v.Int()), int64(float64(v.Int())) == v.Int() && v.Int() != math.MaxInt64, v)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return exact(float64(v.Uint()), v.Uint() < 1<<63 && uint64(float64(v.Uint())) == v.Uint(), v)
	case reflect.Float32, reflect.Float64:
		return Number(v.Float()), nil
	case reflect.String:
		return String(v.String()), nil
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return Null, nil
		}
		return fromGo(v.Elem().Interface(), depth+1)
	case reflect.Slice, reflect.Array:
		list := make([]Value, v.Len())
		for i := range list {
			var err error
			if list[i], err = fromGo(v.Index(i).Interface(), depth+1); err != nil {
				return Null, within(err, Index(i))
			}
		}
		return ArrayOf(list...), nil
	case reflect.Map:
		if v.Type().Key().Kind() != reflect.String {
			break
		}
		list := make(members, 0, v.Len())
		for key, item := range v.Seq2() {
			value, err := fromGo(item.Interface(), depth+1)
			if err != nil {
				return Null, within(err, Key(key.String()))
			}
			list = append(list, member{key.String(), value})
		}
		return Of(list.object()), nil
	}
	return Null, &ValueError{before: fmt.Sprintf("a %s at property ", v.Type()), after: " cannot be converted; convert its contents instead"}
}

func exact(f float64, ok bool, v reflect.Value) (Value, error) {
	if !ok {
		return Null, &ValueError{before: fmt.Sprintf("the number %v at property ", v), after: " is too large to be exact; write it as a text"}
	}
	return Number(f), nil
}
