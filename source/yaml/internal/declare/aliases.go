package declare

import (
	"slices"

	"github.com/sluice-iac/sluice/internal/syntax"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/source/yaml/internal/ast"
	"github.com/sluice-iac/sluice/source/yaml/internal/values"
	"github.com/sluice-iac/sluice/urn"
)

// aliases evaluates a list of URNs and of objects with the changed parts of a URN.
func (o *options) aliases(x ast.Expr) {
	list, ok := x.(*ast.List)
	if !ok {
		return
	}
	for _, item := range list.Items {
		if object, ok := item.(*ast.Object); ok {
			o.request.Aliases = append(o.request.Aliases, o.alias(object))
			continue
		}
		v, ok := o.known(item, "aliases", "a list of URNs and objects", property.Value.IsString)
		if ok {
			o.request.Aliases = append(o.request.Aliases, urn.Alias{URN: o.urn(item, v.AsString())})
		}
	}
}

// urn checks a URN in the program.
func (o *options) urn(x ast.Expr, text string) urn.URN {
	u, err := urn.Parse(text)
	if err != nil {
		o.failed(o.report.Fail(x.Range(), "", "%v", err))
	}
	return u
}

func (o *options) alias(x *ast.Object) urn.Alias {
	var a urn.Alias
	known := []string{"urn", "name", "type", "parent", "noParent", "stack", "project"}
	for _, entry := range x.Entries {
		key, _ := entry.Key.(*ast.Literal)
		if key == nil || !slices.Contains(known, key.Value.AsString()) {
			o.failed(o.report.Fail(entry.Key.Range(), "it may have: "+syntax.Some(known, len(known)), "an alias has no such field"))
			continue
		}
		name := key.Value.AsString()
		switch name {
		case "noParent":
			v, _ := o.known(entry.Value, name, "true or false", property.Value.IsBool)
			a.NoParent = v.AsBool()
			continue
		case "parent":
			o.aliasParent(&a, entry.Value)
			continue
		}
		v, ok := o.known(entry.Value, name, "a string", property.Value.IsString)
		if !ok {
			continue
		}
		switch text := v.AsString(); name {
		case "urn":
			a.URN = o.urn(entry.Value, text)
		case "name":
			a.Name = text
		case "type":
			a.Type = urn.Type(text)
		case "stack":
			a.Stack = text
		case "project":
			a.Project = text
		}
	}
	return a
}

// aliasParent evaluates the former parent of a resource: a resource or a URN.
func (o *options) aliasParent(a *urn.Alias, x ast.Expr) {
	v, err := o.evaluator.Eval(x)
	if o.failed(err) {
		return
	}
	if inner, _ := values.Unmark(v); inner.IsString() {
		a.Parent = o.urn(x, inner.AsString())
		return
	}
	r, err := o.evaluator.ResourceIn(x, v, "parent")
	if !o.failed(err) {
		a.Parent = r.URN
	}
}
