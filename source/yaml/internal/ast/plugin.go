package ast

import (
	"github.com/sluice-iac/sluice/internal/text/syntax"
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
	p := newParser(file, diagnostics)
	var out *Plugin
	if !diagnostics.HasErrors() {
		out = p.plugin(root)
	}
	p.read.diagnostics.Sort()
	if p.read.diagnostics.HasErrors() {
		return nil, file, p.read.diagnostics
	}
	return out, file, p.read.diagnostics
}
