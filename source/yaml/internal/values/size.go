package values

import "github.com/sluice-iac/sluice/property"

// MaxSize is how large a value may become that a program puts together, in bytes. A few lines would otherwise make a value that fills
// the memory, each with ten times the one before it.
const MaxSize = 64 << 20

// perValue is what a value counts besides its text.
const perValue = 8

// IsTooLarge reports whether values are together larger than [MaxSize], as they would be written. A value that occurs more than once
// counts each time.
func IsTooLarge(vs ...property.Value) bool {
	left := MaxSize
	for _, v := range vs {
		if left = shrink(left, v); left < 0 {
			return true
		}
	}
	return false
}

// shrink takes the size of a value off what is left. It stops when nothing is.
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
