package ast

import (
	"github.com/sluice-iac/sluice/internal/text/syntax"
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

// sections returns the names of the sections of a program.
func sections() []string {
	return []string{"name", "description", "pulumi", "config", "configuration", "variables", "resources", "outputs", "components"}
}
