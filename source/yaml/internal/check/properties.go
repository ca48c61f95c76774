package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sluice-iac/sluice/internal/text/syntax"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/source/yaml/internal/ast"
	"github.com/sluice-iac/sluice/source/yaml/internal/schema"
)

// properties checks the values of properties, as far as they are written out.
type properties struct {
	kinds    *kinds
	report   *syntax.Report
	lenient  bool
	followed map[use]bool
}

// use is the use of the value of a variable as a value of a type. Each is checked once: many expressions may use one variable, and variables may
// depend on themselves, which is reported elsewhere.
type use struct {
	value ast.Expr
	as    *schema.Type
}

// written returns an expression, or the one that the program writes out for it in a variable. It returns nil for a use that has been checked.
func (p *properties) written(x ast.Expr, t *schema.Type) ast.Expr {
	value := p.kinds.value(x, 0)
	if value == nil || value == x {
		return x
	}
	u := use{value, t}
	if p.followed[u] {
		return nil
	}
	p.followed[u] = true
	return value
}

// mistake reports a mistake about types.
func (p *properties) mistake(at syntax.Range, hint, format string, args ...any) {
	if p.lenient {
		p.report.Warn(at, hint, format, args...)
		return
	}
	_ = p.report.Fail(at, hint, format, args...)
}

// entries checks the properties of an object against the known ones. at is the place for reports of missing ones.
func (p *properties) entries(given []ast.ObjectEntry, at syntax.Range, what string, known map[string]*schema.Property, required []string) {
	seen := map[string]bool{}
	for _, entry := range given {
		key, ok := entry.Key.(*ast.Literal)
		if !ok || !key.Value.IsString() {
			return // the names are not known yet
		}
		name := key.Value.AsString()
		seen[name] = true
		wanted := known[name]
		if wanted == nil {
			p.unknown(key.Range(), name, what, known)
			continue
		}
		p.assign(entry.Value, wanted.Type, fmt.Sprintf("the property %q of %s", name, what))
	}
	for _, name := range slices.Sorted(slices.Values(required)) {
		if !seen[name] && (known[name] == nil || known[name].Const == nil) {
			p.mistake(at, "", "%s needs the property %q, which is missing", what, name)
		}
	}
}

func (p *properties) unknown(at syntax.Range, name, what string, known map[string]*schema.Property) {
	var names []string
	for n := range known {
		names = append(names, n)
	}
	hint := syntax.Nearest(name, names)
	if hint == "" && len(names) > 0 {
		hint = "it has: " + syntax.Some(names, 5)
	}
	p.mistake(at, hint, "%s has no property %q", what, name)
}

// assign checks an expression against a type. It accepts a value that depends on the evaluation.
func (p *properties) assign(x ast.Expr, t *schema.Type, what string) {
	kind := p.kinds.of(x)
	if kind == schema.Any {
		p.wholeResource(x, t, what)
		return
	}
	switch t.Kind {
	case schema.Any:
		return
	case schema.Union:
		if !slices.ContainsFunc(t.Members, func(m *schema.Type) bool { return accepts(m, kind) }) {
			p.wrongType(x, t, kind, what)
		}
		return
	case schema.Enum:
		p.assignEnum(x, t, kind, what)
		return
	}
	if !accepts(t, kind) {
		p.wrongType(x, t, kind, what)
		return
	}
	switch x := p.written(x, t).(type) {
	case *ast.List:
		for i, item := range x.Items {
			p.assign(item, t.Element, fmt.Sprintf("element %d of %s", i, what))
		}
	case *ast.Object:
		if t.Kind == schema.Object {
			p.entries(x.Entries, x.Range(), what, t.Properties, t.Required)
			return
		}
		for _, entry := range x.Entries {
			p.assign(entry.Value, t.Element, "an entry of "+what)
		}
	}
}

// accepts reports whether a type may take a value of a kind. A string may be given as a number, a boolean or a resource.
func accepts(t *schema.Type, kind schema.Kind) bool {
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
		return accepts(t.Element, kind)
	}
	return slices.ContainsFunc(t.Members, func(m *schema.Type) bool { return accepts(m, kind) })
}

// wholeResource warns of a resource in the place of a text: the provider would get a reference.
func (p *properties) wholeResource(x ast.Expr, t *schema.Type, what string) {
	symbol, ok := x.(*ast.Symbol)
	if !ok || t.Kind != schema.String || len(symbol.Access.Steps) > 0 {
		return
	}
	if n := p.kinds.scope.Find(symbol.Access.Root); n != nil && n.Resource != nil {
		p.report.Warn(x.Range(), fmt.Sprintf("write ${%s.id} for its ID", symbol.Access),
			"%s takes a string, and this is the whole resource %q", what, n.Name)
	}
}

func (p *properties) wrongType(x ast.Expr, t *schema.Type, kind schema.Kind, what string) {
	p.mistake(x.Range(), "", "%s takes %s, not %s", what, takes(t), takes(&schema.Type{Kind: kind}))
}

// takes returns the name of a type for messages.
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

// assignEnum checks a value that is written out against the allowed ones.
func (p *properties) assignEnum(x ast.Expr, t *schema.Type, kind schema.Kind, what string) {
	if !accepts(t.Element, kind) {
		p.wrongType(x, t, kind, what)
		return
	}
	literal, ok := x.(*ast.Literal)
	if !ok {
		return
	}
	var allowed, names []string
	for _, v := range t.Values {
		value, err := property.FromGo(v)
		if err == nil && property.Equal(value, literal.Value) {
			return
		}
		if s, isText := v.(string); isText {
			names = append(names, s)
			allowed = append(allowed, fmt.Sprintf("%q", s))
		} else {
			allowed = append(allowed, fmt.Sprint(v))
		}
	}
	hint := "the schema lists: " + strings.Join(allowed, ", ")
	if near := syntax.Nearest(literal.Value.AsString(), names); near != "" && literal.Value.IsString() {
		hint = near + "\n" + hint
	}
	shown, _ := property.ToGo(literal.Value)
	// The provider decides: schemas list removed values, and lack new ones.
	p.report.Warn(x.Range(), hint, "%s is %v, which the schema does not list", what, shown)
}
