package eval

import (
	"sync"

	"github.com/sluice-iac/sluice/internal/text/syntax"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/source/yaml/internal/bind"
	"github.com/sluice-iac/sluice/urn"
)

// Environment holds the values of names while a program is evaluated. It is safe for many goroutines.
type Environment struct {
	scope *bind.Scope
	facts property.Value

	mu     sync.RWMutex // guards the fields below
	values map[*bind.Node]property.Value
	made   map[*bind.Node]*Resource
	// missing are the nodes without a value, each with the URNs of the resources that were not made; for a resource, that is its own URN.
	missing map[*bind.Node][]urn.URN
}

// NewEnvironment returns an environment in which only the settings of a scope and the facts about the run have values.
func NewEnvironment(s *bind.Scope, facts property.Map) *Environment {
	return &Environment{
		scope: s, facts: property.Of(facts), values: map[*bind.Node]property.Value{}, made: map[*bind.Node]*Resource{},
		missing: map[*bind.Node][]urn.URN{},
	}
}

// SetValue sets the value of a variable. Without a value, the variable is missing, and expressions that use it cannot be evaluated.
func (e *Environment) SetValue(n *bind.Node, v property.Value) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.values[n] = v
}

// SetResource sets the resource of a node. Without it, the resource is missing, like a variable.
func (e *Environment) SetResource(n *bind.Node, r *Resource) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.made[n] = r
}

// SetMissing marks a node as missing because resources were not made. For a resource, unmade is its own URN.
func (e *Environment) SetMissing(n *bind.Node, unmade ...urn.URN) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.missing[n] = unmade
}

// MissingFor returns the resources that were not made and that a node needs, sorted.
func (e *Environment) MissingFor(n *bind.Node) []urn.URN {
	e.mu.RLock()
	defer e.mu.RUnlock()
	var all []urn.URN
	for _, need := range n.Needs {
		all = append(all, e.missing[need]...)
	}
	return urn.SortedSet(all)
}

// unmade returns the URN of a resource that was not made.
func (e *Environment) unmade(n *bind.Node) (urn.URN, bool) {
	e.mu.RLock()
	defer e.mu.RUnlock()
	if n == nil || n.Resource == nil || len(e.missing[n]) == 0 {
		return "", false
	}
	return e.missing[n][0], true
}

// value returns the value of a setting or a variable.
func (e *Environment) value(n *bind.Node) (property.Value, error) {
	if n.Setting != nil {
		if n.Setting.Missing {
			return property.Null, syntax.ErrReported
		}
		return n.Setting.Value, nil
	}
	e.mu.RLock()
	defer e.mu.RUnlock()
	v, known := e.values[n]
	if !known {
		return property.Null, syntax.ErrReported
	}
	return v, nil
}

// resource returns the resource of a node.
func (e *Environment) resource(n *bind.Node) (*Resource, error) {
	e.mu.RLock()
	defer e.mu.RUnlock()
	r := e.made[n]
	if r == nil {
		return nil, syntax.ErrReported
	}
	return r, nil
}
