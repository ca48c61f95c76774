package yaml

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/source/yaml/internal/ast"
	"github.com/sluice-iac/sluice/source/yaml/internal/schema"
	"github.com/sluice-iac/sluice/source/yaml/internal/syntax"
)

// entriesOf are properties as the entries of an object.
func entriesOf(ps []ast.Property) []ast.ObjectEntry {
	out := make([]ast.ObjectEntry, len(ps))
	for i, p := range ps {
		out[i] = ast.ObjectEntry{Key: ast.NewText(p.Name), Value: p.Value}
	}
	return out
}

// entries checks the properties of something against what it takes. at is where a missing one is reported.
func (c *checker) entries(given []ast.ObjectEntry, at syntax.Range, what string, known map[string]*schema.Property, required []string) {
	seen := map[string]bool{}
	for _, entry := range given {
		key, ok := entry.Key.(*ast.Literal)
		if !ok || !key.Value.IsString() {
			return // the names are not known yet
		}
		name := key.Value.AsString()
		seen[name] = true
		p := known[name]
		if p == nil {
			c.unknownProperty(key.Range(), name, what, known)
			continue
		}
		c.assign(entry.Value, p.Type, fmt.Sprintf("the property %q of %s", name, what))
	}
	for _, name := range slices.Sorted(slices.Values(required)) {
		if !seen[name] && (known[name] == nil || known[name].Const == nil) {
			c.mistake(at, "", "%s needs the property %q, which is missing", what, name)
		}
	}
}

func (c *checker) unknownProperty(at syntax.Range, name, what string, known map[string]*schema.Property) {
	var names []string
	for n := range known {
		names = append(names, n)
	}
	hint := syntax.Nearest(name, names)
	if hint == "" && len(names) > 0 {
		hint = "it has: " + syntax.Some(names, 5)
	}
	c.mistake(at, hint, "%s has no property %q", what, name)
}

// assign checks what can be seen of an expression against a type. What is known only when it is evaluated passes.
func (c *checker) assign(x ast.Expr, t *schema.Type, what string) {
	kind := c.kindOf(x)
	if kind == schema.Any {
		c.wholeResource(x, t, what)
		return
	}
	switch t.Kind {
	case schema.Any:
		return
	case schema.Union:
		if !slices.ContainsFunc(t.Members, func(m *schema.Type) bool { return c.accepts(m, kind) }) {
			c.wrongType(x, t, kind, what)
		}
		return
	case schema.Enum:
		c.assignEnum(x, t, kind, what)
		return
	}
	if !c.accepts(t, kind) {
		c.wrongType(x, t, kind, what)
		return
	}
	switch x := x.(type) {
	case *ast.List:
		for i, item := range x.Items {
			c.assign(item, t.Element, fmt.Sprintf("element %d of %s", i, what))
		}
	case *ast.Object:
		if t.Kind == schema.Object {
			c.entries(x.Entries, x.Range(), what, t.Properties, t.Required)
			return
		}
		for _, entry := range x.Entries {
			c.assign(entry.Value, t.Element, "an entry of "+what)
		}
	}
}

// accepts tells whether a type may take a value of a kind. Strings may be given as numbers, booleans and resources.
func (c *checker) accepts(t *schema.Type, kind schema.Kind) bool {
	switch t.Kind {
	case schema.Any:
		return true
	case schema.Boolean:
		return kind == schema.Boolean
	case schema.Integer, schema.Number:
		return kind == schema.Number
	case schema.String:
		return kind == schema.String || kind == schema.Number || kind == schema.Boolean
	case schema.Array:
		return kind == schema.Array
	case schema.MapOf, schema.Object:
		return kind == schema.Object
	case schema.Asset:
		return kind == schema.Asset
	case schema.Enum:
		return c.accepts(t.Element, kind)
	}
	return slices.ContainsFunc(t.Members, func(m *schema.Type) bool { return c.accepts(m, kind) })
}

// wholeResource warns of a resource where a text is wanted: the provider would get a reference.
func (c *checker) wholeResource(x ast.Expr, t *schema.Type, what string) {
	symbol, ok := x.(*ast.Symbol)
	if !ok || t.Kind != schema.String || len(symbol.Access.Steps) > 0 {
		return
	}
	if n := c.scope.find(symbol.Access.Root); n != nil && n.resource != nil {
		c.report(syntax.Diagnostic{Severity: syntax.Warning, Range: x.Range(), Hint: fmt.Sprintf("write ${%s.id} for its ID", symbol.Access),
			Summary: fmt.Sprintf("%s takes a string, and this is the whole resource %q", what, n.name)})
	}
}

func (c *checker) wrongType(x ast.Expr, t *schema.Type, kind schema.Kind, what string) {
	c.mistake(x.Range(), "", "%s takes %s, not %s", what, takes(t), takes(&schema.Type{Kind: kind}))
}

// takes names a type for messages.
func takes(t *schema.Type) string {
	switch t.Kind {
	case schema.Boolean:
		return "a boolean"
	case schema.Integer:
		return "a whole number"
	case schema.Number:
		return "a number"
	case schema.String:
		return "a string"
	case schema.Array:
		return "a list"
	case schema.MapOf, schema.Object:
		return "an object"
	case schema.Asset:
		return "an asset or an archive"
	case schema.Enum:
		return takes(t.Element)
	case schema.Union:
		var names []string
		for _, m := range t.Members {
			if name := takes(m); !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
		return strings.Join(names, " or ")
	}
	return "any value"
}

// assignEnum checks a value that is written out against those that are allowed.
func (c *checker) assignEnum(x ast.Expr, t *schema.Type, kind schema.Kind, what string) {
	if !c.accepts(t.Element, kind) {
		c.wrongType(x, t, kind, what)
		return
	}
	literal, ok := x.(*ast.Literal)
	if !ok {
		return
	}
	var allowed, names []string
	for _, v := range t.Values {
		value := property.Plain(v)
		if property.Equal(value, literal.Value) {
			return
		}
		if s, isText := v.(string); isText {
			names = append(names, s)
			allowed = append(allowed, fmt.Sprintf("%q", s))
		} else {
			allowed = append(allowed, fmt.Sprint(v))
		}
	}
	hint := "allowed are: " + strings.Join(allowed, ", ")
	if near := syntax.Nearest(literal.Value.AsString(), names); near != "" && literal.Value.IsString() {
		hint = near + "\n" + hint
	}
	shown, _ := toGo(literal.Value)
	c.mistake(x.Range(), hint, "%s cannot be %v", what, shown)
}
