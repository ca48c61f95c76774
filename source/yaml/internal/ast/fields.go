package ast

import (
	"fmt"
	"strings"

	"github.com/Masterminds/semver/v3"

	"github.com/sluice-iac/sluice/internal/text/syntax"
	"github.com/sluice-iac/sluice/property"
)

// parser collects the mistakes in one program.
type parser struct {
	file        *syntax.File
	diagnostics syntax.Diagnostics
}

func (p *parser) fail(at syntax.Range, hint, format string, args ...any) {
	p.diagnostics.Add(syntax.Diagnostic{Severity: syntax.Error, Range: at, Summary: fmt.Sprintf(format, args...), Hint: hint})
}

func (p *parser) warn(at syntax.Range, hint, format string, args ...any) {
	p.diagnostics.Add(syntax.Diagnostic{Severity: syntax.Warning, Range: at, Summary: fmt.Sprintf(format, args...), Hint: hint})
}

// fields returns the entries of an object with known names, ignoring case. what is the object's name in messages. It
// warns about unknown names.
func (p *parser) fields(n *syntax.Node, what string, known ...string) map[string]*syntax.Node {
	return p.fieldsAmong(n, what, func(key *syntax.Node) {
		hint := syntax.Nearest(key.Text, known)
		if hint == "" {
			hint = "it may have: " + syntax.Some(known, len(known))
		}
		p.warn(key.Range, hint, "%s has no field %q; it is ignored", what, key.Text)
	}, known)
}

// fieldsAmong is like fields, for objects that may have other fields too. It passes their keys to other.
func (p *parser) fieldsAmong(n *syntax.Node, what string, other func(key *syntax.Node), known []string) map[string]*syntax.Node {
	if n == nil || n.Kind == syntax.Null {
		return nil
	}
	if n.Kind != syntax.Object {
		p.fail(n.Range, "", "%s must be an object, not %v", what, n.Kind)
		return nil
	}
	out := map[string]*syntax.Node{}
	for _, e := range n.Entries {
		name, exact := match(e.Key.Text, known)
		switch {
		case name == "":
			other(e.Key)
			continue
		case out[name] != nil:
			p.fail(e.Key.Range, "", "%s has the field %q twice", what, name)
			continue
		case !exact:
			p.warn(e.Key.Range, "", "the field %q is spelled %q", e.Key.Text, name)
		}
		out[name] = e.Value
	}
	return out
}

func match(name string, known []string) (canonical string, exact bool) {
	for _, k := range known {
		if k == name {
			return k, true
		}
		if strings.EqualFold(k, name) {
			canonical = k
		}
	}
	return canonical, false
}

// text reads a string that must be written out.
func (p *parser) text(n *syntax.Node, what string) Text {
	if n == nil || n.Kind == syntax.Null {
		return Text{}
	}
	if n.Kind != syntax.String {
		hint := ""
		if n.Kind == syntax.Number || n.Kind == syntax.Bool {
			hint = fmt.Sprintf("put it in quotes: %q", n.Text)
		}
		p.fail(n.Range, hint, "%s must be a string, not %v", what, n.Kind)
		return Text{}
	}
	parts, diagnostic := p.file.Interpolate(n.Text, n.Range)
	if diagnostic != nil {
		p.diagnostics.Add(*diagnostic)
		return Text{}
	}
	value := ""
	for _, part := range parts {
		if part.Access != nil {
			p.fail(part.Access.Range, "", "%s must be written out: it is needed before anything is evaluated", what)
			return Text{}
		}
		value += part.Text
	}
	return Text{Value: value, At: n.Range}
}

// flag reads a boolean that must be written out.
func (p *parser) flag(n *syntax.Node, what string) Flag {
	if n == nil || n.Kind == syntax.Null {
		return Flag{}
	}
	if n.Kind != syntax.Bool {
		p.fail(n.Range, "", "%s must be true or false, not %v", what, n.Kind)
		return Flag{}
	}
	return Flag{Value: n.Bool, At: n.Range}
}

// texts reads a list of strings that must be written out.
func (p *parser) texts(n *syntax.Node, what string) []string {
	if n == nil || n.Kind == syntax.Null {
		return nil
	}
	if n.Kind != syntax.List {
		p.fail(n.Range, "", "%s must be a list of strings, not %v", what, n.Kind)
		return nil
	}
	var out []string
	for _, item := range n.Items {
		out = append(out, p.text(item, "each element of "+what).Value)
	}
	return out
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

func (p *parser) template(root *syntax.Node) *Template {
	t := &Template{File: p.file}
	if root == nil {
		return t
	}
	f := p.fieldsAmong(root, "a program", p.unknownSection, sections())
	if n := f["name"]; n != nil {
		t.Name = n.Text
	}
	if settings := p.fields(f["pulumi"], "`pulumi`", "requiredVersion"); settings["requiredVersion"] != nil {
		t.RequiredVersion = p.expr(settings["requiredVersion"])
	}
	if old := f["configuration"]; old != nil {
		p.warn(old.Range, "rename it", "`configuration` is the old name of `config`")
		t.Config = p.configs(old, "`configuration`")
	}
	if c := f["config"]; c == nil || c.Kind != syntax.String { // a text is the older form of the project's `stackConfigDir`
		t.Config = append(t.Config, p.configs(c, "`config`")...)
	}
	t.Variables = p.named(f["variables"], "`variables`")
	t.Resources = p.resources(f["resources"])
	t.Outputs = p.named(f["outputs"], "`outputs`")
	for _, e := range p.entries(f["components"], "`components`") {
		p.fail(e.Key.Range, "put it into a plugin of its own, with a PulumiPlugin.yaml", "a program cannot make components available")
	}
	return t
}

// unknownSection skips a section that is not part of the program: a project file has more, and people add notes of their own
// (protocol.md 11.1). It warns about a likely misspelling, because the resources of a misspelt section would be deleted.
func (p *parser) unknownSection(key *syntax.Node) {
	ofProjects := []string{"runtime", "main", "author", "website", "license", "stackConfigDir", "backend", "options", "plugins",
		"packages", "template", "requiredPulumiVersion", "namespace", "version", "sdks", "artifacts"}
	if name, _ := match(key.Text, ofProjects); name != "" {
		return
	}
	if hint := syntax.Nearest(key.Text, sections()); hint != "" {
		p.warn(key.Range, hint, "a program has no section %q; it is ignored", key.Text)
	}
}

// entries returns the entries of an object whose keys are names.
func (p *parser) entries(n *syntax.Node, what string) []syntax.Entry {
	if n == nil || n.Kind == syntax.Null {
		return nil
	}
	if n.Kind != syntax.Object {
		p.fail(n.Range, "", "%s must be an object, not %v", what, n.Kind)
		return nil
	}
	return n.Entries
}

func (p *parser) named(n *syntax.Node, what string) []*Named {
	var out []*Named
	for _, e := range p.entries(n, what) {
		out = append(out, &Named{Name: key(e.Key), Value: p.expr(e.Value)})
	}
	return out
}

func (p *parser) configs(n *syntax.Node, what string) []*Config {
	var out []*Config
	for _, e := range p.entries(n, what) {
		out = append(out, p.config(e))
	}
	return out
}

// config reads one entry: an object that declares it, or a value that is its default.
func (p *parser) config(e syntax.Entry) *Config {
	c := &Config{Key: key(e.Key)}
	if e.Value.Kind != syntax.Object {
		if e.Value.Kind != syntax.Null {
			c.Default = p.expr(e.Value)
		}
		return c
	}
	f := p.fields(e.Value, "the configuration "+e.Key.Text, "type", "name", "secret", "default", "items", "value", "description")
	c.Type = p.text(f["type"], "a configuration type")
	c.Name = p.text(f["name"], "the name of a configuration key")
	c.Secret = p.flag(f["secret"], "`secret`")
	if d := f["default"]; d != nil && d.Kind != syntax.Null {
		c.Default = p.expr(d)
	}
	if items := f["items"]; items != nil && items.Kind == syntax.Object {
		for _, in := range items.Entries {
			if strings.EqualFold(in.Key.Text, "type") {
				c.ItemsType = p.text(in.Value, "a configuration type")
			}
		}
	}
	return c
}

// optional is like expr, and returns nil for null.
func (p *parser) optional(n *syntax.Node) Expr {
	if n == nil || n.Kind == syntax.Null {
		return nil
	}
	return p.expr(n)
}

func (p *parser) expr(n *syntax.Node) Expr {
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
func (p *parser) interpolated(n *syntax.Node) Expr {
	at := place{n.Range}
	parts, diagnostic := p.file.Interpolate(n.Text, n.Range)
	switch {
	case diagnostic != nil:
		p.diagnostics.Add(*diagnostic)
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

const functionPrefix = "fn::"

// functionEntry returns the entry of an object that is a call, nil for other objects.
func functionEntry(n *syntax.Node) *syntax.Entry {
	if len(n.Entries) != 1 || !strings.HasPrefix(strings.ToLower(n.Entries[0].Key.Text), functionPrefix) {
		return nil
	}
	return &n.Entries[0]
}

func (p *parser) object(n *syntax.Node) Expr {
	if call := functionEntry(n); call != nil {
		if e := p.call(n, call); e != nil {
			return e
		}
	}
	o := &Object{place: place{n.Range}}
	for _, e := range n.Entries {
		name := e.Key.Text
		if len(n.Entries) > 1 && isFunction(name) {
			p.fail(e.Key.Range, "", "%s must stand in an object of its own", name)
		}
		o.Entries = append(o.Entries, ObjectEntry{Key: p.expr(e.Key), Value: p.expr(e.Value)})
	}
	return o
}

// version reads a version, which must be written out.
func (p *parser) version(n *syntax.Node) Text {
	t := p.text(n, "`version`")
	if t.Value == "" {
		return Text{}
	}
	v, err := semver.NewVersion(t.Value)
	if err != nil {
		p.fail(t.At, "write it like 4.5.6", "%q is not a version", t.Value)
		return Text{}
	}
	t.Value = v.String()
	return t
}

func (p *parser) plugin(root *syntax.Node) *Plugin {
	out := &Plugin{File: p.file}
	f := p.fieldsAmong(root, "a plugin", func(key *syntax.Node) {
		switch name, _ := match(key.Text, sections()); name {
		case "config", "configuration", "variables", "resources", "outputs":
			p.fail(key.Range, "put it into a component", "a plugin has no %s of its own", name)
		}
	}, []string{"name", "version", "namespace", "description", "components"})
	out.Name, out.Version = p.text(f["name"], "the name of a plugin"), p.version(f["version"])
	out.Namespace, out.Description = p.text(f["namespace"], "`namespace`"), p.text(f["description"], "`description`")
	for _, e := range p.entries(f["components"], "`components`") {
		out.Components = append(out.Components, p.component(e))
	}
	return out
}

func (p *parser) component(e syntax.Entry) *Component {
	what := "the component " + e.Key.Text
	if strings.Contains(e.Key.Text, ":") {
		p.fail(e.Key.Range, "", "the name of a component is the last part of its type, so it cannot have colons")
	}
	f := p.fields(e.Value, what, "name", "description", "pulumi", "inputs", "variables", "resources", "outputs")
	t := &Template{
		File: p.file, Name: e.Key.Text, Config: p.configs(f["inputs"], "`inputs`"), Variables: p.named(f["variables"], "`variables`"),
		Resources: p.resources(f["resources"]), Outputs: p.named(f["outputs"], "`outputs`"),
	}
	for _, c := range t.Config {
		if c.Name.IsGiven() {
			p.fail(c.Name.At, "", "the input %s of %s cannot have another name", c.Key.Value, what)
		}
	}
	if settings := p.fields(f["pulumi"], "`pulumi`", "requiredVersion"); settings["requiredVersion"] != nil {
		t.RequiredVersion = p.expr(settings["requiredVersion"])
	}
	return &Component{Key: key(e.Key), Description: p.text(f["description"], "`description`"), Template: t}
}

func (p *parser) resources(n *syntax.Node) []*Resource {
	var out []*Resource
	for _, e := range p.entries(n, "`resources`") {
		out = append(out, p.resource(e))
	}
	return out
}

func (p *parser) resource(e syntax.Entry) *Resource {
	r := &Resource{Key: key(e.Key), PropertiesAt: e.Key.Range}
	what := "the resource " + e.Key.Text
	if e.Value.Kind != syntax.Object {
		p.fail(e.Value.Range, "", "%s must be an object with a `type`, not %v", what, e.Value.Kind)
		return r
	}
	f := p.fields(e.Value, what, "type", "name", "defaultProvider", "properties", "get", "options")
	r.Type = p.text(f["type"], "a resource's type")
	switch n := strings.Count(r.Type.Value, ":"); {
	case f["type"] == nil || f["type"].Kind == syntax.Null:
		p.fail(e.Key.Range, "", "%s has no `type`", what)
	case r.Type.IsGiven() && (n < 1 || n > 2):
		p.fail(r.Type.At, "", "%q is not a type: it must have the form <package>:<module>:<Type> or <package>:<Type>", r.Type.Value)
	}
	r.Name = p.text(f["name"], "a resource's name")
	r.DefaultProvider = p.flag(f["defaultProvider"], "`defaultProvider`")
	if r.DefaultProvider.IsGiven() && !strings.HasPrefix(r.Type.Value, "pulumi:providers:") {
		p.fail(r.DefaultProvider.At, "", "only a provider, of a type like pulumi:providers:aws, can be a default provider")
	}
	if n := f["properties"]; n != nil && n.Kind != syntax.Null {
		p.properties(r, n)
	}
	p.get(r, f["get"], what)
	p.options(r, f["options"], what)
	return r
}

func (p *parser) properties(r *Resource, n *syntax.Node) {
	r.PropertiesAt = n.Range
	if n.Kind == syntax.Object && functionEntry(n) == nil {
		r.Properties = p.propertyList(n)
		return
	}
	if n.Kind != syntax.Object && n.Kind != syntax.String {
		p.fail(n.Range, "", "`properties` must be an object, not %v", n.Kind)
		return
	}
	r.PropertiesExpr = p.expr(n)
}

func (p *parser) propertyList(n *syntax.Node) []Property {
	var out []Property
	for _, e := range p.entries(n, "`state`") {
		out = append(out, Property{Name: key(e.Key), Value: p.expr(e.Value)})
	}
	return out
}

func (p *parser) get(r *Resource, n *syntax.Node, what string) {
	if n == nil || n.Kind == syntax.Null {
		return
	}
	f := p.fields(n, "`get` of "+what, "id", "state")
	if f == nil {
		return
	}
	r.Get = &Get{At: n.Range, State: p.propertyList(f["state"])}
	if f["id"] == nil {
		p.fail(n.Range, "", "`get` of %s has no `id`", what)
	} else {
		r.Get.ID = p.expr(f["id"])
	}
	if r.Properties != nil || r.PropertiesExpr != nil {
		p.fail(r.PropertiesAt, "what helps to find the object belongs into `state` of `get`",
			"%s is only read, so it cannot have properties", what)
	}
}

func (p *parser) options(r *Resource, n *syntax.Node, what string) {
	f := p.fields(n, "`options` of "+what, optionNames()...)
	if f == nil {
		return
	}
	timeouts := p.fields(f["customTimeouts"], "`customTimeouts`", "create", "update", "delete", "read")
	r.Options = Options{
		AdditionalSecretOutputs: p.texts(f["additionalSecretOutputs"], "`additionalSecretOutputs`"),
		IgnoreChanges:           p.texts(f["ignoreChanges"], "`ignoreChanges`"),
		ReplaceOnChanges:        p.texts(f["replaceOnChanges"], "`replaceOnChanges`"),
		HideDiffs:               p.texts(f["hideDiffs"], "`hideDiffs`"),
		Aliases:                 p.optional(f["aliases"]),
		Create:                  p.optional(timeouts["create"]),
		Update:                  p.optional(timeouts["update"]),
		Delete:                  p.optional(timeouts["delete"]),
		Read:                    p.optional(timeouts["read"]),
		DeleteBeforeReplace:     p.flag(f["deleteBeforeReplace"], "`deleteBeforeReplace`"),
		RetainOnDelete:          p.flag(f["retainOnDelete"], "`retainOnDelete`"),
		Protect:                 p.optional(f["protect"]),
		DependsOn:               p.optional(f["dependsOn"]),
		ReplaceWith:             p.optional(f["replaceWith"]),
		Parent:                  p.optional(f["parent"]),
		DeletedWith:             p.optional(f["deletedWith"]),
		Provider:                p.optional(f["provider"]),
		Providers:               p.optional(f["providers"]),
		Import:                  p.text(f["import"], "`import`"),
		Version:                 p.version(f["version"]),
		PluginDownloadURL:       p.text(f["pluginDownloadURL"], "`pluginDownloadURL`"),
		ReplacementTrigger:      p.optional(f["replacementTrigger"]),
		EnvVarMappings:          p.optional(f["envVarMappings"]),
	}
	if a := r.Options.Aliases; a != nil {
		if _, isList := a.(*List); !isList {
			p.fail(a.Range(), "", "`aliases` must be a list")
		}
	}
}

// key returns the key of an entry as a text, without interpolation.
func key(n *syntax.Node) Text { return Text{Value: n.Text, At: n.Range} }
