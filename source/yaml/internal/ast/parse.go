package ast

import (
	"strings"

	"github.com/sluice-iac/sluice/internal/syntax"
)

// Parse reads a program. The template is nil when there are errors.
func Parse(name, text string) (*Template, *syntax.File, syntax.Diagnostics) {
	file, root, diagnostics := syntax.Parse(name, text)
	if diagnostics.HasErrors() {
		return nil, file, diagnostics
	}
	p := &parser{file: file, diagnostics: diagnostics}
	t := p.template(root)
	p.diagnostics.Sort()
	if p.diagnostics.HasErrors() {
		return nil, file, p.diagnostics
	}
	return t, file, p.diagnostics
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

// sections returns the names of the sections of a program.
func sections() []string {
	return []string{"name", "description", "pulumi", "config", "configuration", "variables", "resources", "outputs", "components"}
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
