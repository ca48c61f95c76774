package why

import (
	"strconv"

	"github.com/sluice-iac/sluice/property"
)

// outputs are the outputs of a resource and its ID, as texts.
type outputs struct {
	texts   map[string]bool
	changed map[string]bool // those that no output had before
}

// eachText calls f with the text of each known scalar in a value.
func eachText(v property.Value, f func(string)) {
	v = v.StripSecretsAndOutputs()
	switch {
	case v.IsString():
		f(v.AsString())
	case v.IsNumber():
		f(strconv.FormatFloat(v.AsNumber(), 'g', -1, 64))
	case v.IsBool():
		f(strconv.FormatBool(v.AsBool()))
	case v.IsReference():
		f(string(v.AsReference().URN))
	case v.IsArray():
		for _, x := range v.AsArray().All() {
			eachText(x, f)
		}
	case v.IsMap():
		for _, x := range v.AsMap().All() {
			eachText(x, f)
		}
	}
}
