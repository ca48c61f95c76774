package why

import (
	"slices"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// earlier returns the resources that a new value comes from although nothing changes them now, in ascending order. An earlier
// operation changed them and ended before it reached the resource, so their outputs are newer than the recorded inputs. deps are
// the resources on which the property depends, and before those on which it depended. value is the new value, and at its place.
//
// A value comes from such a resource if it has an output of the resource that the recorded value lacks. If the recorded value has a
// present output of the resource that the new value lacks, the program was edited.
func (e *evidence) earlier(deps, before []urn.URN, at property.Path, value property.Value) []urn.URN {
	old := e.step.Old
	if old.Modified.IsZero() {
		return nil
	}
	was, _ := old.Inputs.Lookup(at)
	dependedOn := e.newNamesOf(before)
	var settings map[string]bool
	var out []urn.URN
	for _, u := range e.newNamesOf(deps) {
		if !slices.Contains(dependedOn, u) {
			continue
		}
		for _, v := range e.standsFor(u) {
			r := e.recorded(v)
			if r == nil || !r.Modified.After(old.Modified) {
				continue
			}
			if settings == nil {
				settings = e.settingTexts(old.Inputs, e.step.Wanted.Inputs, at)
			}
			if gains(was, value, without(e.outputsOf(v).texts, settings)) {
				out = append(out, v)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// standsFor returns the resources with the outputs of a dependency: those in a component, or the resource itself.
func (c *collector) standsFor(u urn.URN) []urn.URN {
	if !c.isQuietComponent(u) {
		return []urn.URN{u}
	}
	return c.inside(u)
}

// recorded returns the state of a resource before the operation, nil if there was none.
func (c *collector) recorded(u urn.URN) *state.Resource {
	for _, s := range c.steps[u] {
		if s.Old != nil {
			return s.Old
		}
	}
	return nil
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
