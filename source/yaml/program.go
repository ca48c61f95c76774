package yaml

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kballard/go-shellquote"

	"github.com/sluice-iac/sluice/internal/text/syntax"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/plugin"
	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/source/tooling"
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

// isLenient reports whether mistakes in types are only warnings.
func (o Options) isLenient() bool {
	if o.LookupEnv == nil {
		return false
	}
	v, _ := o.LookupEnv("PULUMI_DEBUG_YAML_DISABLE_TYPE_CHECKING")
	return v == "1" || strings.EqualFold(v, "true")
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
		return &tooling.NoDebuggerError{Program: p.project.Program(), Reason: "the language has none"}
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
	return e.showDiagnostics(ctx)
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

// text returns the text of the program (protocol.md 11.1).
func (p *Program) text(ctx context.Context, info stages.RunInfo) (written, error) {
	if p.options.Text != "" {
		return written{name: "program", content: p.options.Text}, nil
	}
	if command := p.project.Option("compiler"); command != "" {
		return p.compile(ctx, command, info)
	}
	names := []string{"Main.json", "Main.yaml", "Pulumi.yaml", "Pulumi.yml", "Pulumi.json"}
	if entry := p.project.Entry; entry != "" && entry != "." {
		names = []string{entry, entry + ".yaml", entry + ".yml", entry + ".json"}
	}
	for _, name := range names {
		b, err := os.ReadFile(filepath.Join(p.project.Directory, name))
		if err == nil {
			return written{name: name, content: string(b)}, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return written{}, fmt.Errorf("read the program: %w", err)
		}
	}
	return written{}, fmt.Errorf("%s: none of %s is in %s", p.project.Program(), strings.Join(names, ", "), p.project.Directory)
}

// compile runs the command that writes the program to its standard output.
func (p *Program) compile(ctx context.Context, command string, info stages.RunInfo) (written, error) {
	words, err := shellquote.Split(command)
	if err != nil || len(words) == 0 {
		return written{}, fmt.Errorf("the compiler %q is not a command line: %w", command, cmp.Or(err, errors.New("it is empty")))
	}
	config := info.Config
	if config == nil {
		config = map[string]string{}
	}
	values, err := json.Marshal(config)
	if err != nil {
		return written{}, fmt.Errorf("encode the configuration: %w", err)
	}
	stdout, stderr, exit, err := plugin.Output(ctx, plugin.Command{
		Name: words[0], Executable: words[0], Args: words[1:], Directory: p.project.Directory,
		Environment: append(os.Environ(), "PULUMI_STACK="+info.Stack, "PULUMI_ORGANIZATION="+info.Organization,
			"PULUMI_PROJECT="+info.Project, "PULUMI_CONFIG="+string(values), "PULUMI_ROOT_DIRECTORY="+p.project.Root),
	})
	if err != nil {
		return written{}, fmt.Errorf("run the compiler %q: %w", command, err)
	}
	if exit.Code != 0 {
		return written{}, fmt.Errorf("the compiler %q ended with %s:\n%s", command, exit.Status,
			cmp.Or(strings.TrimSpace(stderr), "it wrote nothing"))
	}
	return written{name: "output of " + words[0], content: stdout, remarks: strings.TrimSpace(stderr)}, nil
}

// Packages lists the packages that the program mentions, sorted, without the engine's own ([protocol.md 11.10]). A lock file determines all
// properties of its package. For other packages, the version and URL of the first mention apply. Exact is set if any
// mention of the package has a version or URL.
//
// [protocol.md 11.10]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/protocol.md#1110-packages
func (p *Program) Packages(ctx context.Context) ([]stages.Package, error) {
	l, err := p.load(ctx, stages.RunInfo{})
	if err != nil {
		return nil, err
	}
	if l.diagnostics.HasErrors() {
		return nil, &ProgramError{Program: p.project.Program(), Text: l.diagnostics.ErrorText(l.file)}
	}
	locked := map[string][]stages.Package{}
	for _, pkg := range l.packages {
		name := packages.Namespace(pkg)
		locked[name] = append(locked[name], pkg)
	}
	seen, exact := map[string]bool{"pulumi": true}, map[string]bool{}
	var list []stages.Package
	l.template.Mentions(func(m ast.Mention) {
		name := ast.PackageOf(m.Token.Value)
		exact[name] = exact[name] || m.Version.Value != "" || m.URL.Value != ""
		if seen[name] || urn.CheckPackageName("package", name) != nil {
			return // the run of the program reports a wrong name with its place
		}
		seen[name] = true
		if known := locked[name]; known != nil {
			list = append(list, known...)
			return
		}
		list = append(list, stages.Package{Name: name, Version: m.Version.Value, DownloadURL: m.URL.Value})
	})
	for i := range list {
		list[i].Exact = list[i].Exact || exact[packages.Namespace(list[i])]
	}
	slices.SortFunc(list, comparePackages)
	return list, nil
}

func comparePackages(a, b stages.Package) int {
	name := func(p *stages.Parameterization) string {
		if p == nil {
			return ""
		}
		return p.Name + " " + p.Version
	}
	return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Version, b.Version), cmp.Compare(name(a.Parameterization), name(b.Parameterization)),
		cmp.Compare(name(a.Extension), name(b.Extension)), cmp.Compare(a.DownloadURL, b.DownloadURL))
}

// written is the text of a program.
type written struct {
	name    string // of the file, or "output of" the command that wrote the text
	content string
	remarks string // the error output of that command
}
