package eval

import (
	"sync"

	"github.com/sluice-iac/sluice/internal/syntax"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/source/yaml/internal/bind"
)

// Environment holds the values of names while a program is evaluated. It is safe for many goroutines.
type Environment struct {
	scope *bind.Scope
	facts property.Value

	mu     sync.RWMutex // guards what follows
	values map[*bind.Node]property.Value
	made   map[*bind.Node]*Resource
}

// NewEnvironment returns an environment in which only the settings of a scope and the facts about the run have values.
func NewEnvironment(s *bind.Scope, facts property.Map) *Environment {
	return &Environment{
		scope: s, facts: property.Of(facts), values: map[*bind.Node]property.Value{}, made: map[*bind.Node]*Resource{},
	}
}

// SetValue sets the value of a variable. A variable that never gets one is missing: what uses it cannot be evaluated.
func (e *Environment) SetValue(n *bind.Node, v property.Value) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.values[n] = v
}

// SetResource sets the resource of a node. A resource that is never set is missing, like a variable.
func (e *Environment) SetResource(n *bind.Node, r *Resource) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.made[n] = r
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
