package workspace

import (
	"github.com/sluice-iac/sluice/property"
)

// RefuseMark returns an error if the plain text of a setting (see [Text]) has one that represents unknown values in states and between programs, engine
// and providers. The text would be recorded as an output that nobody can read again. The error does not have the value.
func RefuseMark(k Key, text string) error {
	if !property.HasUnknownMarker(text) {
		return nil
	}
	return configErrorf("%s: the value has a text that stands for an unknown value between programs, providers and states, so it cannot be used in a setting; "+
		"set another value with `sluice config set`", k)
}
