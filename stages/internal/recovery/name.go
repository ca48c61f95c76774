package recovery

import (
	"strings"

	"github.com/sluice-iac/sluice/property"
)

// name is an input that may be the ID of an object.
type name struct {
	property, value string
	isID            bool // objects of this type have it as their ID: so the stack's other ones show
	madeUp          bool // it was made up for this object, so that no other one has it
}

func plainText(v property.Value) (string, bool) {
	if !v.IsString() {
		return "", false
	}
	return v.AsString(), v.AsString() != ""
}

// randomSuffix is the least number of random characters that names are made up with.
const randomSuffix = 7

// isMadeUp reports whether a name is that of the resource with random characters behind it: letters and digits, at least one of
// them a digit, as providers and [Autonamer] make them up.
func isMadeUp(text, resource string) bool {
	rest, ok := strings.CutPrefix(text, resource)
	rest = strings.TrimLeft(rest, "-_")
	if !ok || len(rest) < randomSuffix {
		return false
	}
	digit := false
	for _, c := range rest {
		switch {
		case c >= '0' && c <= '9':
			digit = true
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z':
		default:
			return false
		}
	}
	return digit
}
