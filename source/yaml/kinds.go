package yaml

import (
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/source/yaml/internal/ast"
	"github.com/sluice-iac/sluice/source/yaml/internal/schema"
	"github.com/sluice-iac/sluice/source/yaml/internal/syntax"
)

// kindOf is the kind of an expression's value: Any when only its evaluation will tell.
func (c *checker) kindOf(x ast.Expr) schema.Kind {
	switch x := x.(type) {
	case *ast.Literal:
		return kindOfValue(x.Value)
	case *ast.Interpolation:
		return schema.String
	case *ast.List:
		return schema.Array
	case *ast.Object:
		return schema.Object
	case *ast.Symbol:
		return c.kindOfAccess(x.Access)
	case *ast.Call:
		switch x.Function {
		case "fn::join", "fn::toJSON", "fn::toBase64", "fn::fromBase64", "fn::readFile", "fn::filebase64", "fn::filebase64sha256",
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

// kindOfAccess is the kind of what stands in "${...}".
func (c *checker) kindOfAccess(a *syntax.Access) schema.Kind {
	n := c.scope.find(a.Root)
	switch {
	case n == nil:
		return schema.Any
	case n.resource != nil:
		return kindOfOutput(n, a.Steps)
	case len(a.Steps) > 0 || c.open[n]:
		return schema.Any
	}
	c.open[n] = true // variables may refer to themselves, which is a mistake that others report
	defer delete(c.open, n)
	if n.variable != nil {
		return c.kindOf(n.variable.Value)
	}
	return c.kindOfConfig(n)
}

// kindOfOutput is the kind of an output of a resource, where the schema says it.
func kindOfOutput(n *node, steps []syntax.Step) schema.Kind {
	if n.schema == nil || len(steps) != 1 || n.schema.Outputs[steps[0].Name] == nil {
		return schema.Any
	}
	switch kind := n.schema.Outputs[steps[0].Name].Type.Kind; kind {
	case schema.Boolean, schema.String, schema.Array, schema.Asset, schema.Number, schema.Object:
		return kind
	case schema.Integer:
		return schema.Number
	case schema.MapOf:
		return schema.Object
	}
	return schema.Any
}

// kindOfConfig is the kind of a declared setting, or of what the stack has.
func (c *checker) kindOfConfig(n *node) schema.Kind {
	if n.config == nil {
		return kindOfValue(peel(n.value).inner)
	}
	if n.config.Default != nil {
		return c.kindOf(n.config.Default)
	}
	t, _ := parseConfigType(n.config.Type.Value, n.config.ItemsType.Value)
	switch t.name {
	case "string":
		return schema.String
	case "number", "integer":
		return schema.Number
	case "boolean":
		return schema.Boolean
	case "object":
		return schema.Object
	case "list":
		return schema.Array
	}
	return schema.Any
}

func kindOfValue(v property.Value) schema.Kind {
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
