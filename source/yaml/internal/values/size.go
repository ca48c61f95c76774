package values

import "github.com/sluice-iac/sluice/property"

// MaxSize is the largest size in bytes of a value that a program composes. Otherwise a few lines, each with ten times the value of the line
// before, would fill the memory.
const MaxSize = 64 << 20

// perValue is the size of a value without its text.
const perValue = 8

// IsTooLarge reports whether values together are larger than [MaxSize] in their written form. A value that occurs more than once counts
// each time.
func IsTooLarge(vs ...property.Value) bool {
	left := MaxSize
	for _, v := range vs {
		if left = shrink(left, v); left < 0 {
			return true
		}
	}
	return false
}

// shrink subtracts the size of a value from left. It stops at zero.
func shrink(left int, v property.Value) int {
	inner, _ := Unmark(v)
	left -= perValue
	switch {
	case inner.IsString():
		left -= len(inner.AsString())
	case inner.IsArray():
		for _, item := range inner.AsArray().All() {
			if left = shrink(left, item); left < 0 {
				break
			}
		}
	case inner.IsMap():
		for name, item := range inner.AsMap().All() {
			if left = shrink(left-len(name), item); left < 0 {
				break
			}
		}
	}
	return left
}
