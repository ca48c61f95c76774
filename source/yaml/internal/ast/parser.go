package ast

import (
	"slices"
	"strings"

	"github.com/sluice-iac/sluice/internal/text/syntax"
)

// parser parses programs and plugins.
type parser struct {
	read  *reader
	exprs exprParser
}

func newParser(file *syntax.File, found syntax.Diagnostics) *parser {
	r := &reader{file: file, diagnostics: found}
	return &parser{r, exprParser{r}}
}

func (p *parser) template(root *syntax.Node) *Template {
	t := &Template{File: p.read.file}
	if root == nil {
		return t
	}
	f := p.read.fieldsAmong(root, "a program", p.unknownSection, sections())
	if n := f["name"]; n != nil {
		t.Name = n.Text
	}
	if settings := p.read.fields(f["pulumi"], "`pulumi`", "requiredVersion"); settings["requiredVersion"] != nil {
		t.RequiredVersion = p.exprs.expr(settings["requiredVersion"])
	}
	var config []*Config
	if c := f["config"]; c == nil || c.Kind != syntax.String { // a text is the older form of the project's `stackConfigDir`
		config = p.configs(c, "`config`")
	}
	if old := f["configuration"]; old != nil {
		p.read.warn(old.Range, "rename it", "`configuration` is the old name of `config`")
		t.Config = p.older(p.configs(old, "`configuration`"), config)
	}
	t.Config = append(t.Config, config...)
	t.Variables = p.named(f["variables"], "`variables`")
	t.Resources = p.resources(f["resources"])
	t.Outputs = p.named(f["outputs"], "`outputs`")
	for _, e := range p.read.entries(f["components"], "`components`") {
		p.read.fail(e.Key.Range, "put it into a plugin of its own, with a PulumiPlugin.yaml", "a program cannot make components available")
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
		p.read.warn(key.Range, hint, "a program has no section %q; it is ignored", key.Text)
	}
}

func (p *parser) named(n *syntax.Node, what string) []*Named {
	var out []*Named
	for _, e := range p.read.entries(n, what) {
		out = append(out, &Named{Name: key(e.Key), Value: p.exprs.expr(e.Value)})
	}
	return out
}

func (p *parser) configs(n *syntax.Node, what string) []*Config {
	var out []*Config
	for _, e := range p.read.entries(n, what) {
		out = append(out, p.config(e))
	}
	return out
}

// older returns the entries of `configuration` that `config` does not have: what `config` says takes precedence.
func (p *parser) older(old, config []*Config) []*Config {
	return slices.DeleteFunc(old, func(c *Config) bool {
		i := slices.IndexFunc(config, func(other *Config) bool { return other.Key.Value == c.Key.Value })
		if i >= 0 {
			p.read.warn(c.Key.At, "remove it here", "the configuration value %q is taken from `config`, in line %d", c.Key.Value, config[i].Key.At.Line)
		}
		return i >= 0
	})
}

// config reads one entry: an object that declares it, or a value that is its default.
func (p *parser) config(e syntax.Entry) *Config {
	c := &Config{Key: key(e.Key)}
	if e.Value.Kind != syntax.Object {
		if e.Value.Kind != syntax.Null {
			c.Default = p.exprs.expr(e.Value)
		}
		return c
	}
	f := p.read.fields(e.Value, "the configuration "+e.Key.Text, "type", "name", "secret", "default", "items", "value", "description")
	c.Type = p.read.text(f["type"], "a configuration type")
	c.Name = p.read.text(f["name"], "the name of a configuration key")
	c.Secret = p.read.flag(f["secret"], "`secret`")
	if d := f["default"]; d != nil && d.Kind != syntax.Null {
		c.Default = p.exprs.expr(d)
	}
	if items := f["items"]; items != nil && items.Kind == syntax.Object {
		for _, in := range items.Entries {
			if strings.EqualFold(in.Key.Text, "type") {
				c.ItemsType = p.read.text(in.Value, "a configuration type")
			}
		}
	}
	return c
}

func (p *parser) plugin(root *syntax.Node) *Plugin {
	out := &Plugin{File: p.read.file}
	f := p.read.fieldsAmong(root, "a plugin", func(key *syntax.Node) {
		switch name, _ := match(key.Text, sections()); name {
		case "config", "configuration", "variables", "resources", "outputs":
			p.read.fail(key.Range, "put it into a component", "a plugin has no %s of its own", name)
		}
	}, []string{"name", "version", "namespace", "description", "components"})
	out.Name, out.Version = p.read.text(f["name"], "the name of a plugin"), p.read.version(f["version"])
	out.Namespace, out.Description = p.read.text(f["namespace"], "`namespace`"), p.read.text(f["description"], "`description`")
	for _, e := range p.read.entries(f["components"], "`components`") {
		out.Components = append(out.Components, p.component(e))
	}
	return out
}

func (p *parser) component(e syntax.Entry) *Component {
	what := "the component " + e.Key.Text
	if strings.Contains(e.Key.Text, ":") {
		p.read.fail(e.Key.Range, "", "the name of a component is the last part of its type, so it cannot have colons")
	}
	f := p.read.fields(e.Value, what, "name", "description", "pulumi", "inputs", "variables", "resources", "outputs")
	t := &Template{
		File: p.read.file, Name: e.Key.Text, Config: p.configs(f["inputs"], "`inputs`"), Variables: p.named(f["variables"], "`variables`"),
		Resources: p.resources(f["resources"]), Outputs: p.named(f["outputs"], "`outputs`"),
	}
	for _, c := range t.Config {
		if c.Name.IsGiven() {
			p.read.fail(c.Name.At, "", "the input %s of %s cannot have another name", c.Key.Value, what)
		}
	}
	if settings := p.read.fields(f["pulumi"], "`pulumi`", "requiredVersion"); settings["requiredVersion"] != nil {
		t.RequiredVersion = p.exprs.expr(settings["requiredVersion"])
	}
	return &Component{Key: key(e.Key), Description: p.read.text(f["description"], "`description`"), Template: t}
}

func (p *parser) resources(n *syntax.Node) []*Resource {
	var out []*Resource
	for _, e := range p.read.entries(n, "`resources`") {
		out = append(out, p.resource(e))
	}
	return out
}

func (p *parser) resource(e syntax.Entry) *Resource {
	r := &Resource{Key: key(e.Key), PropertiesAt: e.Key.Range}
	what := "the resource " + e.Key.Text
	if e.Value.Kind != syntax.Object {
		p.read.fail(e.Value.Range, "", "%s must be an object with a `type`, not %v", what, e.Value.Kind)
		return r
	}
	known := []string{"type", "name", "defaultProvider", "properties", "get", "options"}
	f := p.read.fieldsAmong(e.Value, what, func(key *syntax.Node) {
		if name, _ := match(key.Text, []string{"condition", "metadata"}); name != "" { // known to Pulumi YAML, which ignores them
			p.read.warn(key.Range, "", "%s has the field %q, which does nothing", what, name)
			return
		}
		p.read.refuse(key, what, known)
	}, known)
	r.Type = p.read.text(f["type"], "a resource's type")
	switch n := strings.Count(r.Type.Value, ":"); {
	case f["type"] == nil || f["type"].Kind == syntax.Null:
		p.read.fail(e.Key.Range, "", "%s has no `type`", what)
	case r.Type.IsGiven() && (n < 1 || n > 2):
		p.read.fail(r.Type.At, "", "%q is not a type: it must have the form <package>:<module>:<Type> or <package>:<Type>", r.Type.Value)
	}
	r.Name = p.read.text(f["name"], "a resource's name")
	r.DefaultProvider = p.read.flag(f["defaultProvider"], "`defaultProvider`")
	if r.DefaultProvider.IsGiven() && !strings.HasPrefix(r.Type.Value, "pulumi:providers:") {
		p.read.fail(r.DefaultProvider.At, "", "only a provider, of a type like pulumi:providers:aws, can be a default provider")
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
		p.read.fail(n.Range, "", "`properties` must be an object, not %v", n.Kind)
		return
	}
	r.PropertiesExpr = p.exprs.expr(n)
}

func (p *parser) propertyList(n *syntax.Node) []Property {
	var out []Property
	for _, e := range p.read.entries(n, "`state`") {
		out = append(out, Property{Name: key(e.Key), Value: p.exprs.expr(e.Value)})
	}
	return out
}

func (p *parser) get(r *Resource, n *syntax.Node, what string) {
	if n == nil || n.Kind == syntax.Null {
		return
	}
	f := p.read.fields(n, "`get` of "+what, "id", "state")
	if f == nil {
		return
	}
	r.Get = &Get{At: n.Range, State: p.propertyList(f["state"])}
	if f["id"] == nil {
		p.read.fail(n.Range, "", "`get` of %s has no `id`", what)
	} else {
		r.Get.ID = p.exprs.expr(f["id"])
	}
	if r.Properties != nil || r.PropertiesExpr != nil {
		p.read.fail(r.PropertiesAt, "what helps to find the object belongs into `state` of `get`",
			"%s is only read, so it cannot have properties", what)
	}
}

func (p *parser) options(r *Resource, n *syntax.Node, what string) {
	f := p.read.onlyFields(n, "`options` of "+what, optionNames()...)
	if f == nil {
		return
	}
	timeouts := p.read.fields(f["customTimeouts"], "`customTimeouts`", "create", "update", "delete", "read")
	r.Options = Options{
		AdditionalSecretOutputs: p.read.texts(f["additionalSecretOutputs"], "`additionalSecretOutputs`"),
		IgnoreChanges:           p.read.texts(f["ignoreChanges"], "`ignoreChanges`"),
		ReplaceOnChanges:        p.read.texts(f["replaceOnChanges"], "`replaceOnChanges`"),
		HideDiffs:               p.read.texts(f["hideDiffs"], "`hideDiffs`"),
		Aliases:                 p.exprs.optional(f["aliases"]),
		Create:                  p.exprs.optional(timeouts["create"]),
		Update:                  p.exprs.optional(timeouts["update"]),
		Delete:                  p.exprs.optional(timeouts["delete"]),
		Read:                    p.exprs.optional(timeouts["read"]),
		DeleteBeforeReplace:     p.read.flag(f["deleteBeforeReplace"], "`deleteBeforeReplace`"),
		RetainOnDelete:          p.read.flag(f["retainOnDelete"], "`retainOnDelete`"),
		Protect:                 p.exprs.optional(f["protect"]),
		DependsOn:               p.exprs.optional(f["dependsOn"]),
		ReplaceWith:             p.exprs.optional(f["replaceWith"]),
		Parent:                  p.exprs.optional(f["parent"]),
		DeletedWith:             p.exprs.optional(f["deletedWith"]),
		Provider:                p.exprs.optional(f["provider"]),
		Providers:               p.exprs.optional(f["providers"]),
		Import:                  p.read.text(f["import"], "`import`"),
		Version:                 p.read.version(f["version"]),
		PluginDownloadURL:       p.read.text(f["pluginDownloadURL"], "`pluginDownloadURL`"),
		ReplacementTrigger:      p.exprs.optional(f["replacementTrigger"]),
		EnvVarMappings:          p.exprs.optional(f["envVarMappings"]),
	}
	if a := r.Options.Aliases; a != nil {
		if _, isList := a.(*List); !isList {
			p.read.fail(a.Range(), "", "`aliases` must be a list")
		}
	}
}
