package why

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// traced finds the sources of a new value inside a property, for which programs name only the dependencies of the whole property.
// It compares the value with the outputs of the resources, and returns those that it comes from; none for a value that the program
// itself gives. sure is false if the program may have made the value from the returned resources in a way that cannot be seen,
// although other places explain why the property depends on them. settings are texts of settings in the value: an output that
// equals one of them explains nothing.
func (e *evidence) traced(from []urn.URN, value, property property.Value, settings map[string]bool) (sources []urn.URN, sure bool) {
	if value.HasUnknowns() || value.HasSealed() {
		return from, true
	}
	if isOnly(value, settings) {
		return nil, true
	}
	known := false
	for _, u := range from {
		changed := without(e.outputsOf(u).changed, settings)
		known = known || len(changed) > 0
		if mentions(value, changed) {
			sources = append(sources, u)
		}
	}
	switch {
	case len(sources) > 0:
		return sources, true
	case !known: // a known value cannot come from unknown ones
		return nil, true
	}
	unexplained := func(u urn.URN) bool { return !mentions(property, e.outputsOf(u).texts) }
	if !property.HasUnknowns() && slices.ContainsFunc(from, unexplained) {
		return from, true
	}
	return from, false
}

// outputs are the outputs of a resource and its ID, as texts.
type outputs struct {
	texts   map[string]bool
	changed map[string]bool // those that no output had before
}

// outputsOf returns the outputs of a resource with a decision.
func (c *collector) outputsOf(u urn.URN) outputs {
	if o, ok := c.outputs[u]; ok {
		return o
	}
	o := outputs{map[string]bool{}, map[string]bool{}}
	before := map[string]bool{}
	enter := func(texts map[string]bool, r *state.Resource) {
		if r == nil {
			return
		}
		for _, v := range r.Outputs.All() {
			eachText(v, func(text string) { texts[text] = true })
		}
		if r.ID != "" {
			texts[r.ID] = true
		}
	}
	for _, s := range c.steps[u] {
		enter(o.texts, s.New)
		enter(before, s.Old)
	}
	for text := range o.texts {
		if !before[text] {
			o.changed[text] = true
		}
	}
	c.outputs[u] = o
	return o
}

// without returns the texts without others.
func without(texts, others map[string]bool) map[string]bool {
	if len(others) == 0 {
		return texts
	}
	out := maps.Clone(texts)
	maps.DeleteFunc(out, func(text string, _ bool) bool { return others[text] })
	return out
}

// isOnly reports whether a value is one of the texts.
func isOnly(v property.Value, texts map[string]bool) (only bool) {
	if v = v.StripSecretsAndOutputs(); v.IsArray() || v.IsMap() {
		return false
	}
	eachText(v, func(text string) { only = texts[text] })
	return only
}

// minMention is the least length of a text that counts as part of another one.
const minMention = 3

// mentions reports whether a value contains one of the texts, or a text that contains one of them.
func mentions(v property.Value, texts map[string]bool) bool {
	found := false
	eachText(v, func(text string) {
		if found = found || texts[text]; found {
			return
		}
		for part := range texts {
			if len(part) >= minMention && len(part) < len(text) && strings.Contains(text, part) {
				found = true
				return
			}
		}
	})
	return found
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
