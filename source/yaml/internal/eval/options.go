package eval

import (
	"fmt"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/source/yaml/internal/ast"
	"github.com/sluice-iac/sluice/source/yaml/internal/bind"
	"github.com/sluice-iac/sluice/source/yaml/internal/values"
	"github.com/sluice-iac/sluice/urn"
)

// Made returns the resource of a node.
func (e *Evaluator) Made(n *bind.Node) (*Resource, error) { return e.names.resource(n) }

// MissingFor returns the resources that were not made and that a node needs, sorted.
func (e *Evaluator) MissingFor(n *bind.Node) []urn.URN { return e.names.MissingFor(n) }

// Unmade returns the URN of the resource in an option, if that resource was not made.
func (e *Evaluator) Unmade(x ast.Expr) (urn.URN, bool) {
	s, ok := x.(*ast.Symbol)
	if !ok || len(s.Access.Steps) > 0 {
		return "", false
	}
	return e.names.unmade(e.names.scope.Find(s.Access.Root))
}

// Resource evaluates an option whose value is a resource. If x is nil, so is the resource.
func (e *Evaluator) Resource(x ast.Expr, option string) (*Resource, error) {
	if x == nil {
		return nil, nil
	}
	v, err := e.Eval(x)
	if err != nil {
		return nil, err
	}
	return e.ResourceIn(x, v, option)
}

// ResourceIn returns the resource in the value of an option. The value must be the resource itself, and known.
func (e *Evaluator) ResourceIn(x ast.Expr, v property.Value, option string) (*Resource, error) {
	inner, _ := values.Unmark(v)
	if !inner.IsReference() {
		hint := ""
		if inner.IsString() {
			hint = "write ${name} for the resource of that name"
		}
		return nil, e.report.Fail(x.Range(), hint, "`%s` must be a resource, not %s", option, values.Describe(inner))
	}
	return e.walker.resources.find(inner.AsReference().URN, x.Range())
}

// Resources is like Resource, for an option whose value is a list.
func (e *Evaluator) Resources(x ast.Expr, option string) ([]*Resource, error) {
	if x == nil {
		return nil, nil
	}
	v, err := e.Eval(x)
	if err != nil {
		return nil, err
	}
	inner, _ := values.Unmark(v)
	if !inner.IsArray() {
		return nil, e.report.Fail(x.Range(), "put it between [ and ]", "`%s` must be a list of resources, not %s", option, values.Describe(inner))
	}
	var out []*Resource
	for i, item := range inner.AsArray().All() {
		at := x
		if list, ok := x.(*ast.List); ok {
			at = list.Items[i]
		}
		r, err := e.ResourceIn(at, item, fmt.Sprintf("%s[%d]", option, i))
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, nil
}
