package operation

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// Ephemeral names the properties whose values no state and no journal has (decision 0282). nil names none.
type Ephemeral struct{ rules []ephemeralRule }

// ephemeralRule names a property of the types that a pattern matches, as an input and as an output.
type ephemeralRule struct {
	entry string
	types *providers.Pattern
	path  property.Path
}

// matches reports whether the rule is for a type. It may be written as in states, random:index/randomPet:RandomPet, or shorter, as
// random:index:RandomPet or random:RandomPet.
func (r ephemeralRule) matches(t urn.Type) bool {
	return !strings.HasPrefix(string(t), "pulumi:") && r.types.MatchType(t)
}

// ParseEphemeral parses a JSON list of texts "type#path". A "*" in the type stands for any characters.
func ParseEphemeral(text string) (*Ephemeral, error) {
	var list []string
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		return nil, errors.New(`it must be a list of texts "type#property", such as aws:rds/instance:Instance#password`)
	}
	e := &Ephemeral{}
	for n, entry := range list {
		rule, err := parseEphemeralRule(entry)
		if err != nil {
			return nil, fmt.Errorf("entry %d (%q): %w", n+1, entry, err)
		}
		e.rules = append(e.rules, rule)
	}
	return e, nil
}

func parseEphemeralRule(entry string) (r ephemeralRule, err error) {
	types, path, found := strings.Cut(entry, "#")
	switch {
	case !found || types == "" || path == "":
		return r, errors.New(`it has not the form "type#property"`)
	case strings.HasPrefix(types, "pulumi:"):
		return r, errors.New("the settings of providers and the outputs of stacks must be recorded, because commands without a program need them")
	}
	r.entry = entry
	if r.types, err = providers.ParsePattern(types); err != nil {
		return r, err
	}
	if r.path, err = property.ParsePathStrict(path); err != nil {
		return r, err
	}
	return r, nil
}

// of returns the paths of the ephemeral properties of a type.
func (e *Ephemeral) of(t urn.Type) (paths []property.Path) {
	if e == nil {
		return nil
	}
	for _, r := range e.rules {
		if r.matches(t) {
			paths = append(paths, r.path)
		}
	}
	return paths
}

// without returns properties without the values at the paths.
func without(paths []property.Path, m property.Map) (rest property.Map, found bool) {
	for _, p := range paths {
		next, removed := m.Delete(p)
		m, found = next, found || removed
	}
	return m, found
}

// marked returns properties with the values at the paths as secrets, so that nothing shows them and no plan has them as plain text.
func marked(paths []property.Path, m property.Map) property.Map {
	for _, p := range paths {
		if v, is := m.Lookup(p); is && !v.IsNull() {
			m, _ = m.Set(p, property.MakeSecret(v))
		}
	}
	return m
}

// omit returns what is recorded of a state: the same one if it has no ephemeral property.
func (e *Ephemeral) omit(r *state.Resource) *state.Resource {
	paths := e.of(r.Type)
	if len(paths) == 0 {
		return r
	}
	inputs, inInputs := without(paths, r.Inputs)
	outputs, inOutputs := without(paths, r.Outputs)
	if !inInputs && !inOutputs {
		return r
	}
	rest := r.Clone()
	rest.Inputs, rest.Outputs = inputs, outputs
	return rest
}

// omitAll returns a state without the values that were recorded before they were ephemeral, and reports whether there were any.
func (e *Ephemeral) omitAll(s *state.Snapshot) (*state.Snapshot, bool) {
	if e == nil {
		return s, false
	}
	rest, found := *s, false
	rest.Resources, rest.Pending = slices.Clone(s.Resources), slices.Clone(s.Pending)
	for i, r := range s.Resources {
		rest.Resources[i] = e.omit(r)
		found = found || rest.Resources[i] != r
	}
	for i, op := range s.Pending {
		rest.Pending[i].Resource = e.omit(op.Resource)
		found = found || rest.Pending[i].Resource != op.Resource
	}
	if !found {
		return s, false
	}
	return &rest, true
}
