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

// traced narrows down where a new value inside a property comes from: programs name dependencies for whole properties. It compares the value with
// the outputs of the resources, and returns those that it comes from; none for a value that the program itself gives. sure is false if the program
// could have made the value of those that are returned in a way that nobody can see, though other places explain why the property depends on them.
// settings are texts of settings that the value is made of: an output that is one of them explains nothing.
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
	case !known: // nothing known is made of what is not known
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
	changed map[string]bool // those that none of its outputs was before
}

// outputsOf returns the outputs of a resource that something was decided about.
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

// without returns the texts but for others.
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

// minMention is from which length on a text within another one is taken to be part of it by intent.
const minMention = 3

// mentions reports whether something in a value is one of the texts, or a text that has one of them in it.
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

// eachText calls f with the text of each scalar that is known in a value.
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
