package ast

import (
	"strings"

	"github.com/sluice-iac/sluice/internal/text/syntax"
	"github.com/sluice-iac/sluice/property"
)

// exprParser parses expressions.
type exprParser struct{ read *reader }

// optional is like expr, and returns nil for null.
func (p exprParser) optional(n *syntax.Node) Expr {
	if n == nil || n.Kind == syntax.Null {
		return nil
	}
	return p.expr(n)
}

func (p exprParser) expr(n *syntax.Node) Expr {
	at := place{n.Range}
	switch n.Kind {
	case syntax.Bool:
		return &Literal{at, property.Bool(n.Bool)}
	case syntax.Number:
		return &Literal{at, property.Number(n.Number)}
	case syntax.String:
		return p.interpolated(n)
	case syntax.List:
		list := &List{place: at}
		for _, item := range n.Items {
			list.Items = append(list.Items, p.expr(item))
		}
		return list
	case syntax.Object:
		return p.object(n)
	}
	return &Literal{at, property.Null}
}

// interpolated reads a string: a literal, a single value, or text with values in it.
func (p exprParser) interpolated(n *syntax.Node) Expr {
	at := place{n.Range}
	parts, diagnostic := p.read.file.Interpolate(n.Text, n.Range)
	switch {
	case diagnostic != nil:
		p.read.diagnostics.Add(*diagnostic)
	case len(parts) == 0:
		return &Literal{at, property.String("")}
	case len(parts) == 1 && parts[0].Access == nil:
		return &Literal{at, property.String(parts[0].Text)}
	case len(parts) == 1 && parts[0].Text == "":
		return &Symbol{at, parts[0].Access}
	default:
		return &Interpolation{at, parts}
	}
	return &Literal{at, property.Null}
}

func (p exprParser) object(n *syntax.Node) Expr {
	if call := functionEntry(n); call != nil {
		if e := p.call(n, call); e != nil {
			return e
		}
	}
	o := &Object{place: place{n.Range}}
	for _, e := range n.Entries {
		name := e.Key.Text
		if len(n.Entries) > 1 && isFunction(name) {
			p.read.fail(e.Key.Range, "", "%s must stand in an object of its own", name)
		}
		o.Entries = append(o.Entries, ObjectEntry{Key: p.expr(e.Key), Value: p.expr(e.Value)})
	}
	return o
}

// call reads a call. For a key that only looks like a function it adds a warning and returns nil: the entry is then data.
func (p exprParser) call(n *syntax.Node, e *syntax.Entry) Expr {
	name, exact := match(e.Key.Text, functionNames())
	rest := e.Key.Text[len(functionPrefix):]
	switch {
	case name == "" && strings.Contains(rest, ":"):
		return p.shorthand(n, e, rest)
	case name == "":
		p.read.warn(e.Key.Range, syntax.Nearest(e.Key.Text, functionNames()),
			"there is no function %q, so this is taken as an object with a key of that name", e.Key.Text)
		return nil
	case !exact:
		p.read.warn(e.Key.Range, "", "the function %s is spelled %s", e.Key.Text, name)
	}
	if name == "fn::invoke" {
		return p.invoke(n, e.Value)
	}
	c := &Call{place: place{n.Range}, Function: name}
	if shapes()[name] == 1 {
		c.Args = []Expr{p.expr(e.Value)}
		if name == "fn::assetArchive" {
			p.assetArchive(e.Value)
		}
		return c
	}
	if e.Value.Kind != syntax.List || len(e.Value.Items) != 2 {
		p.read.fail(e.Value.Range, "", "%s takes a list of two values", name)
		return c
	}
	c.Args = []Expr{p.expr(e.Value.Items[0]), p.expr(e.Value.Items[1])}
	if l, isLiteral := c.Args[0].(*Literal); name == "fn::stackReference" {
		p.read.warn(e.Key.Range, "declare a resource of the type pulumi:pulumi:StackReference", "fn::stackReference is deprecated")
		if !isLiteral || !l.Value.IsString() {
			p.read.fail(c.Args[0].Range(), "", "the name of the stack must be written out")
		}
	}
	return c
}

// isFunction reports whether a key calls a function.
func isFunction(key string) bool {
	if len(key) < len(functionPrefix) || !strings.EqualFold(key[:len(functionPrefix)], functionPrefix) {
		return false
	}
	name, _ := match(key, functionNames())
	return name != "" || strings.Contains(key[len(functionPrefix):], ":")
}

func (p exprParser) assetArchive(n *syntax.Node) {
	if n.Kind != syntax.Object {
		p.read.fail(n.Range, "", "fn::assetArchive takes an object of assets and archives, not %v", n.Kind)
		return
	}
	makers := []string{"fn::stringAsset", "fn::fileAsset", "fn::remoteAsset", "fn::fileArchive", "fn::remoteArchive", "fn::assetArchive"}
	for _, e := range n.Entries {
		name := ""
		if e.Value.Kind == syntax.Object && functionEntry(e.Value) != nil {
			name, _ = match(e.Value.Entries[0].Key.Text, makers)
		}
		if name == "" {
			p.read.fail(e.Value.Range, "write it with "+strings.Join(makers, ", "), "%q in fn::assetArchive is neither an asset nor an archive", e.Key.Text)
		}
	}
}

// shorthand reads `fn::pkg:mod:name: {arguments}`.
func (p exprParser) shorthand(n *syntax.Node, e *syntax.Entry, token string) Expr {
	i := &Invoke{place: place{n.Range}, Token: Text{Value: token, At: e.Key.Range}}
	p.checkToken(i.Token)
	if e.Value.Kind == syntax.Object {
		i.Args = p.expr(e.Value)
	}
	return i
}

func (p exprParser) checkToken(t Text) {
	if n := strings.Count(t.Value, ":"); t.IsGiven() && (n < 1 || n > 2) {
		p.read.fail(t.At, "", "%q is not a function: it must have the form <package>:<module>:<name> or <package>:<name>", t.Value)
	}
}

func (p exprParser) invoke(n, arg *syntax.Node) Expr {
	i := &Invoke{place: place{n.Range}}
	if arg.Kind != syntax.Object {
		p.read.fail(arg.Range, "", "fn::invoke takes an object with `function`, `arguments`, `options` and `return`")
		return i
	}
	f := p.read.fields(arg, "fn::invoke", "function", "arguments", "options", "return")
	if f["function"] == nil {
		p.read.fail(arg.Range, "", "fn::invoke has no `function`")
	}
	i.Token = p.read.text(f["function"], "the name of a function")
	p.checkToken(i.Token)
	i.Return = p.read.text(f["return"], "`return`")
	if a := f["arguments"]; a != nil && a.Kind != syntax.Null {
		if a.Kind != syntax.Object {
			p.read.fail(a.Range, "", "the `arguments` of fn::invoke must be an object, not %v", a.Kind)
		}
		i.Args = p.expr(a)
	}
	o := p.read.fields(f["options"], "`options` of fn::invoke", "parent", "provider", "version", "pluginDownloadURL", "dependsOn")
	i.Options = InvokeOptions{
		Parent: p.optional(o["parent"]), Provider: p.optional(o["provider"]), DependsOn: p.optional(o["dependsOn"]),
		Version: p.read.version(o["version"]), PluginDownloadURL: p.read.text(o["pluginDownloadURL"], "`pluginDownloadURL`"),
	}
	return i
}

const functionPrefix = "fn::"

// functionEntry returns the entry of an object that is a call, nil for other objects.
func functionEntry(n *syntax.Node) *syntax.Entry {
	if len(n.Entries) != 1 || !strings.HasPrefix(strings.ToLower(n.Entries[0].Key.Text), functionPrefix) {
		return nil
	}
	return &n.Entries[0]
}
