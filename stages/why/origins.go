package why

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

// origins finds out where the new values of a step's inputs come from: other resources, an earlier operation, a setting, or the program.
type origins struct {
	collector *collector
	step      stages.Decided
	urn       urn.URN // of the decision
}

// earlier returns the resources that a new value comes from although nothing changes them now, in ascending order. An earlier
// operation changed them and ended before it reached the resource, so their outputs are newer than the recorded inputs. deps are
// the resources on which the property depends, and before those on which it depended. value is the new value, and at its place.
//
// A value comes from such a resource if it has an output of the resource that the recorded value lacks. If the recorded value has a
// present output of the resource that the new value lacks, the program was edited.
func (o *origins) earlier(deps, before []urn.URN, at property.Path, value property.Value) []urn.URN {
	old := o.step.Old
	if old.Modified.IsZero() {
		return nil
	}
	was, _ := old.Inputs.Lookup(at)
	dependedOn := currentNames(before, o.collector.recordedName)
	var settings map[string]bool
	var out []urn.URN
	for _, u := range currentNames(deps, o.collector.newName) {
		if !slices.Contains(dependedOn, u) {
			continue
		}
		for _, v := range o.collector.standsFor(u) {
			r := o.collector.recorded(v)
			if r == nil || !r.Modified.After(old.Modified) {
				continue
			}
			if settings == nil {
				settings = o.settingTexts(old.Inputs, o.step.Wanted.Inputs, at)
			}
			if gains(was, value, without(o.collector.outputsOf(v).texts, settings)) {
				out = append(out, v)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// gains reports whether a new value has some of the texts that the old one lacks, and has all that the old one has.
func gains(old, new property.Value, texts map[string]bool) bool {
	gained := false
	for text := range texts {
		one := map[string]bool{text: true}
		had, has := mentions(old, one), mentions(new, one)
		if had && !has && len(text) >= minMention {
			return false
		}
		gained = gained || has && !had
	}
	return gained
}

// fromProgram describes the origin of a changed value in the program: a setting that has changed too, or the program itself.
func (o *origins) fromProgram(c *Change, was, is property.Map, at property.Path) {
	place, known := o.collector.known.Locate(o.urn, at)
	c.Position = place.Position
	if s := o.step.Wanted; !known && len(s.StackTrace) > 0 {
		old, _ := was.Lookup(at)
		new, _ := is.Lookup(at)
		if position, ok := o.collector.known.Statement(s.StackTrace, at, old, new); ok {
			c.Position = position
		}
	}
	for _, s := range o.collector.known.Settings() {
		if o.isFrom(s, place, known, was, is, at) {
			c.Origin, c.Setting = FromConfiguration, o.setting(s)
			return
		}
	}
}

// settingTexts returns the new texts of the changed settings in a value of the program. Outputs of other resources may contain the
// same texts, because those resources use the same settings.
func (o *origins) settingTexts(was, is property.Map, at property.Path) map[string]bool {
	place, known := o.collector.known.Locate(o.urn, at)
	out := map[string]bool{}
	for _, s := range o.collector.known.Settings() {
		if s.New != "" && o.isFrom(s, place, known, was, is, at) {
			out[s.New] = true
		}
	}
	return out
}

// isFrom reports whether a changed value comes from a changed setting, as far as that can be determined. A setting that was not set, or is not set any
// more, had or has the default of the program, which may be anything.
func (o *origins) isFrom(s ChangedSetting, place stages.Place, known bool, was, is property.Map, at property.Path) bool {
	if known {
		return slices.Contains(place.Settings, s.Key)
	}
	if s.Secret || s.Old == "" && s.New == "" {
		return false
	}
	return (s.Old == "" || s.Old == scalarText(was, at)) && (s.New == "" || s.New == scalarText(is, at))
}

// fromPackage describes the changed setting of a package from which a default provider has a changed value, if it is known.
func (o *origins) fromPackage(c *Change, at property.Path) {
	for _, s := range o.collector.known.Settings() {
		if s.Key == o.step.Type.ProviderPackage()+":"+at[0].Key {
			c.Setting = o.setting(s)
		}
	}
}

// setting returns a changed setting in the form of a log.
func (o *origins) setting(s ChangedSetting) *Setting {
	out := &Setting{Key: s.Key, Position: s.Position, Old: o.settingText(s.Old), New: o.settingText(s.New)}
	if s.Secret {
		out.Old, out.New = encoded(secretText), encoded(secretText)
	}
	return out
}

func (o *origins) settingText(text string) json.RawMessage {
	if text == "" {
		return nil
	}
	return encoded(o.collector.viewer.text(text))
}

// scalarText returns the value at a place as the text of a setting, "" for a value that cannot be a setting.
func scalarText(m property.Map, at property.Path) string {
	v, _ := m.Lookup(at)
	return v.ScalarText()
}

// traced finds the sources of a new value inside a property, for which programs name only the dependencies of the whole property.
// It compares the value with the outputs of the resources, and returns those that it comes from; none for a value that the program
// itself gives. sure is false if the program may have made the value from the returned resources in a way that cannot be seen,
// although other places explain why the property depends on them. settings are texts of settings in the value: an output that
// equals one of them explains nothing.
func (o *origins) traced(from []urn.URN, value, property property.Value, settings map[string]bool) (sources []urn.URN, sure bool) {
	if value.HasUnknowns() || value.HasSealed() {
		return from, true
	}
	if isOnly(value, settings) {
		return nil, true
	}
	known := false
	for _, u := range from {
		changed := without(o.collector.outputsOf(u).changed, settings)
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
	unexplained := func(u urn.URN) bool { return !mentions(property, o.collector.outputsOf(u).texts) }
	if !property.HasUnknowns() && slices.ContainsFunc(from, unexplained) {
		return from, true
	}
	return from, false
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

// currentNames returns the current URNs of resources, in ascending order.
func currentNames(us []urn.URN, current func(urn.URN) urn.URN) []urn.URN {
	var out []urn.URN
	for _, u := range us {
		out = append(out, current(u))
	}
	slices.Sort(out)
	return slices.Compact(out)
}
