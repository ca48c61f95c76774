package property

import (
	"fmt"
	"math"
)

// KindError is the error of [As] for a value of another kind.
type KindError struct{ Wanted, Got string } // "a number", "an unknown"

func (e *KindError) Error() string { return fmt.Sprintf("the value is %s, not %s", e.Got, e.Wanted) }

// As returns the content of v, or a [*KindError] if v holds something else, such as a secret or an unknown. An int is a number without a
// fraction. The As methods of [Value] return the zero value instead; use them after a check of the kind.
func As[T bool | float64 | int | string | Array | Map | Asset | Archive | Reference](v Value) (T, error) {
	var none T
	if _, whole := any(none).(int); whole {
		f, ok := v.v.(float64)
		if ok && f == math.Trunc(f) && math.Abs(f) < 1<<53 {
			return any(int(f)).(T), nil
		}
		if ok {
			return none, &KindError{Wanted: "a whole number", Got: "the number " + v.String()}
		}
		return none, &KindError{Wanted: "a whole number", Got: v.kind()}
	}
	out, ok := v.v.(T)
	if !ok {
		return none, &KindError{Wanted: nameOf(any(none)), Got: v.kind()}
	}
	return out, nil
}

func nameOf(content any) string {
	switch content.(type) {
	case nil:
		return "null"
	case bool:
		return "a bool"
	case float64:
		return "a number"
	case string:
		return "a text"
	case Array:
		return "an array"
	case Map:
		return "an object"
	case Asset:
		return "an asset"
	case Archive:
		return "an archive"
	case Reference:
		return "a resource"
	case *secret:
		return "a secret"
	case *Output:
		return "an output"
	}
	return "an unknown"
}
