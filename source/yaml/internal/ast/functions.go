package ast

import (
	"strings"

	"github.com/sluice-iac/sluice/internal/syntax"
)

// shapes returns the numbers of arguments of the functions of the language (protocol.md 11.7). Functions with two get a list.
func shapes() map[string]int {
	return map[string]int{
		"fn::invoke": 1, "fn::join": 2, "fn::split": 2, "fn::select": 2, "fn::toJSON": 1, "fn::toBase64": 1, "fn::fromBase64": 1,
		"fn::secret": 1, "fn::unsecret": 1, "fn::readFile": 1, "fn::filebase64": 1, "fn::filebase64sha256": 1, "fn::sha1": 1,
		"fn::length": 1, "fn::singleOrNone": 1, "fn::pulumiResourceName": 1, "fn::pulumiResourceType": 1, "fn::stackReference": 2,
		"fn::stringAsset": 1, "fn::fileAsset": 1, "fn::remoteAsset": 1, "fn::fileArchive": 1, "fn::remoteArchive": 1,
		"fn::assetArchive": 1,
	}
}

func functionNames() []string {
	var names []string
	for name := range shapes() {
		names = append(names, name)
	}
	return names
}

// isFunction reports whether a key calls a function.
func isFunction(key string) bool {
	if len(key) < len(functionPrefix) || !strings.EqualFold(key[:len(functionPrefix)], functionPrefix) {
		return false
	}
	name, _ := match(key, functionNames())
	return name != "" || strings.Contains(key[len(functionPrefix):], ":")
}

// call reads a call. For a key that only looks like a function it adds a warning and returns nil: the entry is then data.
func (p *parser) call(n *syntax.Node, e *syntax.Entry) Expr {
	name, exact := match(e.Key.Text, functionNames())
	rest := e.Key.Text[len(functionPrefix):]
	switch {
	case name == "" && strings.Contains(rest, ":"):
		return p.shorthand(n, e, rest)
	case name == "":
		p.warn(e.Key.Range, syntax.Nearest(e.Key.Text, functionNames()),
			"there is no function %q, so this is taken as an object with a key of that name", e.Key.Text)
		return nil
	case !exact:
		p.warn(e.Key.Range, "", "the function %s is spelled %s", e.Key.Text, name)
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
		p.fail(e.Value.Range, "", "%s takes a list of two values", name)
		return c
	}
	c.Args = []Expr{p.expr(e.Value.Items[0]), p.expr(e.Value.Items[1])}
	if l, isLiteral := c.Args[0].(*Literal); name == "fn::stackReference" {
		p.warn(e.Key.Range, "declare a resource of the type pulumi:pulumi:StackReference", "fn::stackReference is deprecated")
		if !isLiteral || !l.Value.IsString() {
			p.fail(c.Args[0].Range(), "", "the name of the stack must be written out")
		}
	}
	return c
}

func (p *parser) assetArchive(n *syntax.Node) {
	if n.Kind != syntax.Object {
		p.fail(n.Range, "", "fn::assetArchive takes an object of assets and archives, not %v", n.Kind)
		return
	}
	makers := []string{"fn::stringAsset", "fn::fileAsset", "fn::remoteAsset", "fn::fileArchive", "fn::remoteArchive", "fn::assetArchive"}
	for _, e := range n.Entries {
		name := ""
		if e.Value.Kind == syntax.Object && functionEntry(e.Value) != nil {
			name, _ = match(e.Value.Entries[0].Key.Text, makers)
		}
		if name == "" {
			p.fail(e.Value.Range, "write it with "+strings.Join(makers, ", "), "%q in fn::assetArchive is neither an asset nor an archive", e.Key.Text)
		}
	}
}

// shorthand reads `fn::pkg:mod:name: {arguments}`.
func (p *parser) shorthand(n *syntax.Node, e *syntax.Entry, token string) Expr {
	i := &Invoke{place: place{n.Range}, Token: Text{Value: token, At: e.Key.Range}}
	p.checkToken(i.Token)
	if e.Value.Kind == syntax.Object {
		i.Args = p.expr(e.Value)
	}
	return i
}

func (p *parser) checkToken(t Text) {
	if n := strings.Count(t.Value, ":"); t.IsGiven() && (n < 1 || n > 2) {
		p.fail(t.At, "", "%q is not a function: it must have the form <package>:<module>:<name> or <package>:<name>", t.Value)
	}
}

func (p *parser) invoke(n, arg *syntax.Node) Expr {
	i := &Invoke{place: place{n.Range}}
	if arg.Kind != syntax.Object {
		p.fail(arg.Range, "", "fn::invoke takes an object with `function`, `arguments`, `options` and `return`")
		return i
	}
	f := p.fields(arg, "fn::invoke", "function", "arguments", "options", "return")
	if f["function"] == nil {
		p.fail(arg.Range, "", "fn::invoke has no `function`")
	}
	i.Token = p.text(f["function"], "the name of a function")
	p.checkToken(i.Token)
	i.Return = p.text(f["return"], "`return`")
	if a := f["arguments"]; a != nil && a.Kind != syntax.Null {
		if a.Kind != syntax.Object {
			p.fail(a.Range, "", "the `arguments` of fn::invoke must be an object, not %v", a.Kind)
		}
		i.Args = p.expr(a)
	}
	o := p.fields(f["options"], "`options` of fn::invoke", "parent", "provider", "version", "pluginDownloadURL", "dependsOn")
	i.Options = InvokeOptions{
		Parent: p.optional(o["parent"]), Provider: p.optional(o["provider"]), DependsOn: p.optional(o["dependsOn"]),
		Version: p.version(o["version"]), PluginDownloadURL: p.text(o["pluginDownloadURL"], "`pluginDownloadURL`"),
	}
	return i
}
