package check

import (
	"github.com/sluice-iac/sluice/internal/text/syntax"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/source/yaml/internal/ast"
	"github.com/sluice-iac/sluice/source/yaml/internal/bind"
	"github.com/sluice-iac/sluice/source/yaml/internal/config"
	"github.com/sluice-iac/sluice/source/yaml/internal/schema"
	"github.com/sluice-iac/sluice/source/yaml/internal/values"
)

// kinds determines the kinds of the values of expressions.
type kinds struct {
	scope *bind.Scope
	types map[*bind.Node]Type
	open  map[*bind.Node]bool // nodes whose kind is being determined
}

// of returns the kind of an expression's value, or Any if it depends on the evaluation.
func (k *kinds) of(x ast.Expr) schema.Kind {
	switch x := x.(type) {
	case *ast.Literal:
		return ofValue(x.Value)
	case *ast.Interpolation:
		return schema.String
	case *ast.List:
		return schema.Array
	case *ast.Object:
		return schema.Object
	case *ast.Symbol:
		return k.ofAccess(x.Access)
	case *ast.Call:
		switch x.Function {
		case "fn::join", "fn::toJSON", "fn::toYAML", "fn::toBase64", "fn::fromBase64", "fn::readFile", "fn::filebase64", "fn::filebase64sha256",
			"fn::sha1", "fn::pulumiResourceName", "fn::pulumiResourceType":
			return schema.String
		case "fn::split":
			return schema.Array
		case "fn::length":
			return schema.Number
		case "fn::stringAsset", "fn::fileAsset", "fn::remoteAsset", "fn::fileArchive", "fn::remoteArchive", "fn::assetArchive":
			return schema.Asset
		}
	}
	return schema.Any
}

// ofAccess returns the kind of the value of "${...}".
func (k *kinds) ofAccess(a *syntax.Access) schema.Kind {
	n := k.scope.Find(a.Root)
	switch {
	case n == nil:
		return schema.Any
	case n.Resource != nil:
		return ofOutput(k.types[n].Schema, a.Steps)
	case len(a.Steps) > 0:
		if part := k.value(&ast.Symbol{Access: a}, 0); part != nil {
			return k.of(part)
		}
		return schema.Any
	case k.open[n]:
		return schema.Any
	}
	k.open[n] = true // a variable may refer to itself, which is reported elsewhere
	defer delete(k.open, n)
	if n.Variable != nil {
		return k.of(n.Variable.Value)
	}
	return k.ofSetting(n.Setting)
}

// ofOutput returns the kind of an output of a resource, according to the schema.
func ofOutput(r *schema.Resource, steps []syntax.Step) schema.Kind {
	if r == nil || len(steps) != 1 || r.Outputs[steps[0].Name] == nil {
		return schema.Any
	}
	switch kind := r.Outputs[steps[0].Name].Type.Kind; kind {
	case schema.Boolean, schema.String, schema.Array, schema.Asset, schema.Number, schema.Object:
		return kind
	case schema.Integer:
		return schema.Number
	case schema.MapOf:
		return schema.Object
	}
	return schema.Any
}

// ofSetting returns the kind of a declared setting, or of the stack's value.
func (k *kinds) ofSetting(s *bind.Setting) schema.Kind {
	if s.Declared == nil {
		inner, _ := values.Unmark(s.Value)
		return ofValue(inner)
	}
	if s.Declared.Default != nil {
		return k.of(s.Declared.Default)
	}
	t, _ := config.Declared(s.Declared)
	switch t.Name {
	case config.String:
		return schema.String
	case config.Number, config.Integer:
		return schema.Number
	case config.Boolean:
		return schema.Boolean
	case config.Object:
		return schema.Object
	case config.List:
		return schema.Array
	}
	return schema.Any
}

func ofValue(v property.Value) schema.Kind {
	switch {
	case v.IsBool():
		return schema.Boolean
	case v.IsNumber():
		return schema.Number
	case v.IsString():
		return schema.String
	case v.IsArray():
		return schema.Array
	case v.IsMap():
		return schema.Object
	}
	return schema.Any
}

// maxFollowed bounds the variables that are followed, since they may depend on themselves.
const maxFollowed = 100

// value returns an expression, or that of the variable that it names. It returns nil if the program does not write the value out.
func (k *kinds) value(x ast.Expr, followed int) ast.Expr {
	s, ok := x.(*ast.Symbol)
	if !ok {
		return x
	}
	n := k.scope.Find(s.Access.Root)
	if n == nil || n.Variable == nil || followed > maxFollowed {
		return nil
	}
	x = n.Variable.Value
	for _, step := range s.Access.Steps {
		if x = k.part(x, step, followed+1); x == nil {
			return nil
		}
	}
	return k.value(x, followed+1)
}

// part returns the part of an expression that a step leads to, nil if the program does not write it out.
func (k *kinds) part(x ast.Expr, step syntax.Step, followed int) ast.Expr {
	switch x := k.value(x, followed).(type) {
	case *ast.List:
		if step.IsIndex && step.Index >= 0 && step.Index < len(x.Items) {
			return x.Items[step.Index]
		}
	case *ast.Object:
		for _, entry := range x.Entries {
			if name, ok := nameOf(entry); ok && !step.IsIndex && name == step.Name {
				return entry.Value
			}
		}
	}
	return nil
}
