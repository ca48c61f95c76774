package autonaming

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/urn"
)

// Key is the name of the setting.
const Key = "pulumi:autonaming"

// Stack is the stack to which patterns can refer.
type Stack struct {
	Organization, Project, Stack string
	// Config returns a setting of the project by its bare name.
	Config func(name string) (string, bool)
}

// Names is the parsed configuration: a strategy for everything, with exceptions by package and by type. It satisfies the
// engine's Autonamer and may be used from many goroutines.
type Names struct {
	all      strategy
	packages map[string]strategy
	types    map[urn.Type]strategy
}

type section struct {
	strategyText
	Providers map[string]packageSection `json:"providers"`
}

type packageSection struct {
	strategyText
	Resources map[string]strategyText `json:"resources"`
}

type strategyText struct {
	Mode    *string `json:"mode"`
	Pattern *string `json:"pattern"`
	Enforce *bool   `json:"enforce"`
}

// Parse reads the setting, which is JSON text. Errors name the part of it that is wrong.
func Parse(text string, s Stack) (*Names, error) {
	var in section
	dec := json.NewDecoder(bytes.NewReader([]byte(text)))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&in); err != nil {
		return nil, fmt.Errorf("config %s: %w", Key, err)
	}
	n := &Names{packages: map[string]strategy{}, types: map[urn.Type]strategy{}}
	var err error
	if n.all, _, err = in.resolve(s); err != nil {
		return nil, fmt.Errorf("config %s: %w", Key, err)
	}
	for pkg, p := range in.Providers {
		own, given, err := p.resolve(s)
		if err != nil {
			return nil, fmt.Errorf("config %s, provider %q: %w", Key, pkg, err)
		}
		if !given {
			own = n.all
		}
		own.specific = true
		n.packages[pkg] = own
		for typ, r := range p.Resources {
			own, given, err := r.resolve(s)
			if err == nil && !given {
				err = errors.New("set mode or pattern")
			}
			if err != nil {
				return nil, fmt.Errorf("config %s, resource %q: %w", Key, typ, err)
			}
			own.specific = true
			n.types[urn.Type(typ)] = own
		}
	}
	return n, nil
}

// resolve returns the strategy that the text describes, and whether it describes one.
func (t strategyText) resolve(s Stack) (st strategy, given bool, err error) {
	switch {
	case t.Mode != nil && (t.Pattern != nil || t.Enforce != nil):
		return st, false, errors.New("mode goes with neither pattern nor enforce")
	case t.Pattern != nil:
		p, err := parsePattern(*t.Pattern, s)
		if err != nil {
			return st, false, err
		}
		return strategy{kind: byPattern, pattern: p, enforce: t.Enforce != nil && *t.Enforce}, true, nil
	case t.Enforce != nil:
		return st, false, errors.New("enforce needs a pattern")
	case t.Mode == nil:
		return strategy{}, false, nil
	}
	switch *t.Mode {
	case "default":
		return strategy{kind: byProvider}, true, nil
	case "verbatim":
		return strategy{kind: verbatim}, true, nil
	case "disabled":
		return strategy{kind: disabled}, true, nil
	}
	return st, false, fmt.Errorf("mode is %q; use default, verbatim or disabled", *t.Mode)
}

type kind int

const (
	byProvider kind = iota // the provider makes names up
	verbatim
	disabled
	byPattern
)

type strategy struct {
	kind     kind
	pattern  pattern
	enforce  bool
	specific bool // meant for exactly this package or type
}

// Autoname returns the options for naming a resource; nil leaves it to its provider. random is false if no other object of that
// name can exist beside it.
func (n *Names) Autoname(u urn.URN, seed []byte) (options *providers.Autonaming, random bool) {
	s := n.all
	if p, ok := n.packages[u.Type().Package()]; ok {
		s = p
	}
	if t, ok := n.types[u.Type()]; ok {
		s = t
	}
	switch s.kind {
	case verbatim:
		return &providers.Autonaming{ProposedName: u.Name(), Mode: providers.AutonamingEnforce, WarnIfUnsupported: s.specific}, false
	case disabled:
		return &providers.Autonaming{Mode: providers.AutonamingDisable, WarnIfUnsupported: s.specific}, false
	case byPattern:
		name, random := s.pattern.expand(u.Name(), seed)
		o := &providers.Autonaming{ProposedName: name, WarnIfUnsupported: s.enforce || s.specific}
		if s.enforce {
			o.Mode = providers.AutonamingEnforce
		}
		return o, random
	}
	return nil, true
}
