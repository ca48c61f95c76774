package recovery

import (
	"strings"

	"github.com/sluice-iac/sluice/property"
)

// name is an input that may be the ID of an object.
type name struct {
	property, value string
	isID            bool // objects of this type have it as their ID, as the other ones of the stack show
	madeUp          bool // it has random characters, so that no other object has it
}

func plainText(v property.Value) (string, bool) {
	if !v.IsString() {
		return "", false
	}
	return v.AsString(), v.AsString() != ""
}

// randomSuffix is the least number of random characters in a generated name.
const randomSuffix = 7

// isMadeUp reports whether a name is that of the resource followed by random characters: letters and digits, at least one of them a
// digit, as providers and stages.Autonamer generate them.
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
