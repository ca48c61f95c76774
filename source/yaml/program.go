package yaml

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/sluice-iac/sluice/internal/syntax"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/source/yaml/internal/ast"
	"github.com/sluice-iac/sluice/source/yaml/internal/bind"
	"github.com/sluice-iac/sluice/source/yaml/internal/packages"
	"github.com/sluice-iac/sluice/source/yaml/internal/places"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

// Options are the inputs of a program besides its files.
type Options struct {
	// Text is the text of the program, "" to read it from its files.
	Text string
	// Providers starts the providers that have schemas. If it is nil, packages are unknown: types are used as they are written, and nothing
	// is checked.
	Providers providers.Host
	// LookupEnv reads the environment; nil reads nothing.
	LookupEnv func(name string) (string, bool)
}

// Program is a YAML program.
type Program struct {
	project source.Project
	options Options
	schemas *packages.Schemas
	last    parsed
	places  places.Places
}

// parsed is the result of parsing a text. The text is parsed once, although an operation lists the packages of a program before it runs it,
// and an update previews first.
type parsed struct {
	name, text  string
	template    *ast.Template
	file        *syntax.File
	diagnostics syntax.Diagnostics
}

func (p *Program) parse(name, text string) parsed {
	if p.last.file == nil || p.last.name != name || p.last.text != text {
		p.last = parsed{name: name, text: text}
		p.last.template, p.last.file, p.last.diagnostics = ast.Parse(name, text)
	}
	return p.last
}

// New returns the program of a project. The runtime option compiler is a command whose output is the program.
func New(p source.Project, o Options) *Program {
	return &Program{project: p, options: o, schemas: packages.NewSchemas(o.Providers)}
}

var (
	_ source.Program = (*Program)(nil)
	_ source.Locator = (*Program)(nil)
)

// Locate implements [source.Locator].
func (p *Program) Locate(u urn.URN, path property.Path) (stages.Place, bool) {
	return p.places.Locate(u, path)
}

// fileName returns the name of a file of the program for reasons: relative to the project.
func (p *Program) fileName(name string) string {
	if p.project.Option("compiler") != "" {
		return name // the output of a command is not a file
	}
	path := filepath.Join(p.project.Directory, name)
	if relative, err := filepath.Rel(p.project.Root, path); err == nil && p.project.Root != "" {
		return filepath.ToSlash(relative)
	}
	return name
}

// ProgramError reports the errors of a program, for callers that have no monitor to report to.
type ProgramError struct {
	Program string // as source.Project.Program
	Text    string // every error with its place and line
}

func (e *ProgramError) Error() string { return e.Program + " is not valid:\n" + e.Text }

// Run evaluates the program. Errors in it are reported through the monitor's Log.
func (p *Program) Run(ctx context.Context, host source.Host) error {
	if p.project.Debug {
		return &source.NoDebuggerError{Program: p.project.Program(), Reason: "the language has none"}
	}
	ctx, cancel := host.Wanted(ctx)
	defer cancel()
	l, err := p.load(ctx, host.Monitor.Info())
	if err != nil {
		return err
	}
	p.places.Clear()
	e := newEvaluation(ctx, p, host.Monitor, l, bind.ConfigurationValue)
	if !l.diagnostics.HasErrors() {
		if err := e.run(ctx); err != nil {
			return err
		}
	}
	return e.conclude(ctx)
}

// Close does nothing, because no process is kept running.
func (p *Program) Close() error { return nil }

// loaded is a program after it has been read.
type loaded struct {
	template    *ast.Template // nil when there are errors
	file        *syntax.File
	diagnostics syntax.Diagnostics
	packages    []stages.Package // of the lock files
}

func (p *Program) load(ctx context.Context, info stages.RunInfo) (*loaded, error) {
	t, err := p.text(ctx, info)
	if err != nil {
		return nil, err
	}
	known := p.parse(t.name, t.content)
	l := &loaded{template: known.template, file: known.file, diagnostics: slices.Clip(known.diagnostics)}
	if t.remarks != "" {
		l.diagnostics.Add(syntax.Diagnostic{Severity: syntax.Warning, Summary: "it wrote to its error output:\n" + t.remarks})
	}
	if p.project.Directory == "" {
		return l, nil
	}
	if l.packages, err = packages.Locked(p.project.Directory); err != nil {
		return nil, fmt.Errorf("%s: %w", p.project.Program(), err)
	}
	return l, nil
}
