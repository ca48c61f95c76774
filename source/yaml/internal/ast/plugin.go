package ast

import (
	"strings"

	"github.com/sluice-iac/sluice/internal/syntax"
)

// Plugin is a file of a plugin whose components are written in YAML (protocol.md 11.11).
type Plugin struct {
	File                                  *syntax.File
	Name, Version, Namespace, Description Text
	Components                            []*Component
}

// Component is a kind of component that a plugin makes available.
type Component struct {
	Key         Text // the part after "index:" in its type
	Description Text
	Template    *Template // its Config has the inputs
}

// ParsePlugin reads a file of a plugin. The plugin is nil when there are errors.
func ParsePlugin(name, text string) (*Plugin, *syntax.File, syntax.Diagnostics) {
	file, root, diagnostics := syntax.Parse(name, text)
	p := &parser{file: file, diagnostics: diagnostics}
	var out *Plugin
	if !diagnostics.HasErrors() {
		out = p.plugin(root)
	}
	p.diagnostics.Sort()
	if p.diagnostics.HasErrors() {
		return nil, file, p.diagnostics
	}
	return out, file, p.diagnostics
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
