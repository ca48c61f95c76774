package workspace

import (
	"github.com/sluice-iac/sluice/property"
)

// markLength is the length in bytes of the texts that represent unknown values.
const markLength = 36

// RefuseMark returns an error if the plain text of a setting (see [Text]) has one that represents unknown values in states and between programs, engine
// and providers. The text would be recorded as an output that nobody can read again. The error does not have the value.
func RefuseMark(k Key, text string) error {
	if !hasMark(text) {
		return nil
	}
	return configErrorf("%s: the value has a text that stands for an unknown value between programs, providers and states, so it cannot be used in a setting; "+
		"set another value with `sluice config set`", k)
}

// hasMark reports whether a text contains one that represents unknown values.
func hasMark(text string) bool {
	for i := 0; i+markLength <= len(text); i++ {
		if text[i+8] == '-' && property.IsUnknownMarker(text[i:i+markLength]) {
			return true
		}
	}
	return false
}
