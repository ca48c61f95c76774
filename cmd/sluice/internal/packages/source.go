package packages

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"go.yaml.in/yaml/v3"
	"google.golang.org/grpc/status"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/dependencies"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/plugins"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/workspace"
	"github.com/sluice-iac/sluice/host"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/plugin"
	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/source/tooling"
	"github.com/sluice-iac/sluice/urn"
)

// Package is a package with its schema.
type Package struct {
	tooling.PackageSchema
	Schema []byte // as JSON
	// Entry is the package in the form of project files; nil for a schema that does not come from a provider.
	Entry *workspace.Package
	// plugin is the folder of a plugin on the disk, "" for one that is found by its name.
	plugin string
}

// Describe writes a description of the selected part of the schema.
func (p *Package) Describe(w io.Writer, q Question) error {
	var d described
	if err := json.Unmarshal(p.Schema, &d); err != nil {
		return fmt.Errorf("the schema of %s cannot be read: %w", p.Name, err)
	}
	out := &strings.Builder{}
	var err error
	switch {
	case q.Resource != "" && q.Function != "":
		err = exit.Usagef("--resource and --function cannot be used together")
	case q.Resource != "":
		err = one(out, "resource", q.Module, q.Resource, d.Resources)
	case q.Function != "":
		err = one(out, "function", q.Module, q.Function, d.Functions)
	case q.Module != "":
		err = d.module(out, q.Module)
	default:
		p.overview(out, d)
	}
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, out.String())
	return err
}

func (p *Package) overview(out *strings.Builder, d described) {
	modules := map[string]int{}
	for _, list := range []map[string]member{d.Resources, d.Functions} {
		for token := range list {
			modules[moduleOf(token)]++
		}
	}
	fmt.Fprintf(out, "Name: %s\nVersion: %s\nDescription: %s\n", p.Name, p.Version, summary(d.Description))
	fmt.Fprintf(out, "Resources: %d\nFunctions: %d\nModules: %s\n", len(d.Resources), len(d.Functions),
		strings.Join(slices.Sorted(maps.Keys(modules)), ", "))
}

// Published returns the command that installs the published SDK of a package; "" if there can be none.
func (p *Package) Published(language string) string {
	if p.Entry == nil || p.plugin != "" || p.Parameterization != nil || p.ExtensionParameterization != nil {
		return ""
	}
	var s struct {
		Language struct {
			Nodejs, Python struct{ PackageName string }
			Go             struct{ ImportBasePath string }
		}
	}
	if json.Unmarshal(p.Schema, &s) != nil { // only this command needs this part of the schema
		return ""
	}
	at := func(mark string) string {
		if p.Version == "" {
			return ""
		}
		return mark + p.Version
	}
	switch language {
	case "nodejs":
		return "npm install " + cmp.Or(s.Language.Nodejs.PackageName, "@pulumi/"+p.Name) + at("@")
	case "python":
		return "pip install " + cmp.Or(s.Language.Python.PackageName, "pulumi_"+strings.ReplaceAll(p.Name, "-", "_")) + at("==")
	case "go":
		if base := s.Language.Go.ImportBasePath; base != "" {
			return "go get " + base
		}
	}
	return ""
}

// Parameters are the parameters of a package.
type Parameters struct {
	List []string
	// Extends means that the package extends that of the plugin, and does not replace it.
	Extends bool
}

// enter adds the parameters, if there are any, to an entry of a project file.
func (of Parameters) enter(entry *workspace.Package) error {
	switch {
	case of.Extends && len(entry.Parameters) > 0:
		return exit.Usagef("the package %s has parameters, so it cannot be extended; name its plugin, %s", entry.Name, entry.Source)
	case of.Extends:
		entry.Name, entry.Extensions = "", of.List
	case len(of.List) > 0:
		entry.Name, entry.Parameters, entry.Extensions = "", of.List, nil
	}
	return nil
}

// Reader reads the schemas of packages. Make one with [NewReader].
type Reader struct {
	Terminal *terminal.Terminal
	Options  host.PluginOptions
	Project  *workspace.Project // nil outside a project
	// Prepares makes [Reader.Read] install the dependencies of a plugin on the disk before it calls the plugin.
	Prepares bool
}

// NewReader returns a reader for this directory.
func NewReader(t *terminal.Terminal) (*Reader, error) {
	places, err := plugins.Find(t)
	if err != nil {
		return nil, err
	}
	r := &Reader{Terminal: t, Options: places.Options(), Project: places.Project}
	if r.Options.Directory, err = os.Getwd(); err != nil {
		return nil, err
	}
	return r, nil
}

// Generator returns the generator of the SDKs of packages that r has read.
func (r *Reader) Generator() Generator { return Generator{r.Terminal, r.Options} }

// Read returns the package that a user has named: by the name of a package of the project, or of a plugin, perhaps with a version, by its git
// repository, its folder or its executable, or by a file with a schema, "-" being the standard input. The parameters are for the plugin.
// server is the source of the plugin, "" for the usual ones.
func (r *Reader) Read(ctx context.Context, written string, of Parameters, server string) (*Package, error) {
	text, err := r.readFile(ctx, written)
	switch {
	case err != nil:
		return nil, err
	case text != nil && len(of.List) > 0:
		return nil, exit.Usagef("%s is a schema, which takes no parameters", written)
	case text != nil:
		return newPackage(written, text, nil)
	}
	entry, err := r.entry(written)
	if err != nil {
		return nil, err
	}
	if err := of.enter(&entry); err != nil {
		return nil, err
	}
	if server != "" {
		entry.Server = server
	}
	if r.Prepares {
		if err := r.prepare(ctx, entry, nil); err != nil {
			return nil, err
		}
	}
	return r.Ask(ctx, entry)
}

// ReadText returns the schema of a package, named as for [Reader.Read]. The content of a file need not be a schema.
func (r *Reader) ReadText(ctx context.Context, written string, of Parameters, server string) ([]byte, error) {
	if text, err := r.readFile(ctx, written); text != nil && len(of.List) == 0 || err != nil {
		return text, err
	}
	p, err := r.Read(ctx, written, of, server)
	if err != nil {
		return nil, err
	}
	return p.Schema, nil
}

// readFile returns the content of a file with a schema as JSON; nil if none is named.
func (r *Reader) readFile(ctx context.Context, written string) (text []byte, err error) {
	switch extension := filepath.Ext(written); {
	case written == "-":
		return r.Terminal.ReadAll(ctx)
	case extension == ".json", extension == ".yaml", extension == ".yml":
		if text, err = os.ReadFile(written); err != nil {
			return nil, exit.AsUsage(err)
		}
		if extension == ".json" {
			return text, nil
		}
		var v any
		if err := yaml.Unmarshal(text, &v); err != nil {
			return nil, fmt.Errorf("%s is not a valid schema: %w", written, err)
		}
		return json.Marshal(v)
	}
	return nil, nil
}

// entry converts the name that a user has given to an entry of a project file. Folders are absolute.
func (r *Reader) entry(written string) (workspace.Package, error) {
	if r.Project != nil {
		for _, p := range r.Project.Packages {
			if p.Name == written {
				return p.At(r.Project.Directory()), nil
			}
		}
	}
	name, version, _ := strings.Cut(written, "@")
	info, err := os.Stat(written)
	isPath := filepath.IsAbs(written) || strings.HasPrefix(written, ".")
	switch {
	case err == nil && (isPath || info.IsDir()):
		absolute, err := filepath.Abs(written)
		return workspace.Package{Source: absolute}, err
	case isPath:
		return workspace.Package{}, exit.AsUsage(fmt.Errorf("%s is not a plugin: %w", written, err))
	}
	server, tag, err := plugin.ParsePackageSource(written)
	switch {
	case err == nil:
		return workspace.Package{
			Source: strings.TrimPrefix(server, plugin.GitScheme), Version: strings.TrimPrefix(tag, plugin.CommitVersion),
		}, nil
	case !errors.Is(err, plugin.ErrNoGitSource):
		return workspace.Package{}, exit.AsUsage(err)
	case strings.Contains(name, "/"):
		return workspace.Package{}, exit.Usagef("%s is a package of the hosted service, which sluice does not read\n"+
			"Name the plugin of the package as in `random@4.0.0`, or its repository as in `github.com/example/things`", written)
	}
	if err := urn.CheckPackageName("package", name); err != nil {
		return workspace.Package{}, exit.AsUsage(err)
	}
	return workspace.Package{Source: name, Version: strings.TrimPrefix(version, "v")}, nil
}

// pluginPlace is the place of the plugin of a package.
type pluginPlace struct {
	options host.PluginOptions
	spec    providers.Spec
	folder  string // of a plugin on the disk, "" for one that is found by its name
}

// place finds the plugin of a package. Its folder must be absolute, if it has one.
func (r *Reader) place(entry workspace.Package) (pluginPlace, error) {
	at := pluginPlace{options: r.Options, spec: providers.Spec{
		Package: entry.Source, Version: entry.Version, DownloadURL: entry.Server, Exact: entry.Version != "" || entry.Server != "",
	}}
	switch server, version, err := entry.Repository(); {
	case err == nil:
		at.spec.Package, at.spec.Version, at.spec.DownloadURL = path.Base(entry.Source), version, server
		return at, nil
	case !errors.Is(err, plugin.ErrNoGitSource):
		return at, exit.AsUsage(err)
	}
	if !filepath.IsAbs(entry.Source) {
		if err := urn.CheckPackageName("package", entry.Source); err != nil {
			return at, exit.AsUsage(fmt.Errorf("the source of the package %q: %w", entry.Name, err))
		}
		return at, nil
	}
	local, err := plugin.ProviderAt(entry.Source)
	if err != nil {
		return at, exit.AsUsage(err)
	}
	at.folder = local.Directory
	at.options = at.options.With(local)
	at.spec.Package, at.spec.Version = local.Name, ""
	return at, nil
}

// version returns the version of the plugin that has served a package. For one from a git repository it is the tag or commit from which it was
// installed, whatever version its package has.
func (at pluginPlace) version(p *Package) (string, error) {
	if !strings.HasPrefix(at.spec.DownloadURL, plugin.GitScheme) {
		return p.Package().Version, nil
	}
	name, _ := plugin.PluginOf(at.spec)
	finder := at.options.Finder()
	found, err := finder.Find(plugin.Resource, name, "")
	if hosted := (*plugin.LanguageHostedError)(nil); errors.As(err, &hosted) {
		found.Directory, err = hosted.Directory, nil
	}
	for _, l := range finder.List() {
		inside, no := filepath.Rel(l.Location.Directory, found.Directory)
		if l.Kind == plugin.Resource && l.Name == name && no == nil && filepath.IsLocal(inside) {
			return strings.TrimPrefix(l.Version, plugin.CommitVersion), err
		}
	}
	return "", err
}

// made returns the request that parameterizes a plugin; nil if there are no parameters.
func made(parameters []string) *providers.ParameterizeRequest {
	if len(parameters) == 0 {
		return nil
	}
	return &providers.ParameterizeRequest{Args: parameters}
}

// Ask returns the schema of a package, from its plugin. The folder of a plugin must be absolute.
func (r *Reader) Ask(ctx context.Context, entry workspace.Package) (*Package, error) {
	at, err := r.place(entry)
	if err != nil {
		return nil, err
	}
	h := host.Open(ctx, at.options)
	defer func() { _ = h.Close() }()                          // an error of an ending plugin changes nothing
	of := made(append(entry.Parameters, entry.Extensions...)) // only one of them is set
	text, err := providers.Schema(ctx, host.SchemaHost(h.Plugins), at.spec, of)
	if err != nil {
		return nil, explain(ctx, at.spec.Package, of, err)
	}
	p, err := newPackage(at.spec.Package, []byte(text), of)
	if err != nil {
		return nil, err
	}
	if len(entry.Extensions) > 0 && p.ExtensionParameterization == nil {
		return nil, fmt.Errorf("the plugin %s makes of %q the package %s, which takes the place of its own and does not extend it; "+
			"give the parameters after the name, without --extension", at.spec.Package, strings.Join(entry.Extensions, " "), p.Title())
	}
	if entry.Name == "" {
		entry.Name = p.Name
	}
	if at.folder == "" && entry.Version == "" && (at.spec.Exact || !host.IsBuiltin(at.spec)) {
		if entry.Version, err = at.version(p); err != nil { // so that the version is fixed
			return nil, err
		}
	}
	p.Entry, p.plugin = &entry, at.folder
	return p, nil
}

// Mapping returns a mapping of the named plugin: that of the given provider or, if none is given, of the first provider that the plugin lists,
// if it lists any.
func (r *Reader) Mapping(
	ctx context.Context, written string, parameters []string, server string, req providers.MappingRequest,
) (providers.MappingResponse, error) {
	var none providers.MappingResponse
	entry, err := r.entry(written)
	if err != nil {
		return none, err
	}
	if server != "" {
		entry.Server = server
	}
	at, err := r.place(entry)
	if err != nil {
		return none, err
	}
	h := host.Open(ctx, at.options)
	defer func() { _ = h.Close() }() // an error of an ending plugin changes nothing
	p, err := host.SchemaHost(h.Plugins).Load(ctx, at.spec)
	if err != nil {
		return none, err
	}
	if of := made(parameters); of != nil {
		if _, err := p.Parameterize(ctx, *of); err != nil {
			return none, err
		}
	}
	if req.Provider == "" {
		names, err := p.Mappings(ctx, req.Key)
		if err != nil {
			return none, err
		}
		if len(names) > 0 {
			req.Provider = names[0]
		}
	}
	return p.Mapping(ctx, req)
}

// Add adds a package to the file of the target, generates its SDK, links it to the program, and installs the dependencies of the
// program.
func (r *Reader) Add(ctx context.Context, p *Package, t Target) error {
	if err := r.enter(p, t); err != nil {
		return err
	}
	instructions, err := r.use(ctx, p, t)
	if errors.As(err, new(*tooling.NoGeneratorError)) {
		return withoutSDK(p, t, err)
	}
	if err != nil {
		return err
	}
	if t.Program.Runtime != "yaml" {
		if err := dependencies.Install(ctx, r.Terminal, t.Program, r.Options); err != nil {
			return err
		}
	}
	if instructions = strings.TrimSpace(instructions); instructions != "" {
		fmt.Fprintln(r.Terminal.Out, instructions)
	}
	return nil
}

// use generates the SDK of a package and links it to the program.
func (r *Reader) use(ctx context.Context, p *Package, t Target) (instructions string, err error) {
	folder := t.sdk(p)
	if err := r.Generator().Generate(ctx, p, SDKRequest{Language: t.Program.Runtime, Folder: folder, Local: true}); err != nil {
		return "", err
	}
	fmt.Fprintf(r.Terminal.Err, "The SDK of %s is in %s\n", p.Title(), folder)
	return r.Generator().Link(ctx, p, t.Program, folder)
}

// Install installs the plugins of the target's packages, and the dependencies of those that are written in a program language, and
// generates the SDKs. If there is no generator for an SDK, it uses the existing one, or the published one.
func (r *Reader) Install(ctx context.Context, t Target) error { return r.installFor(ctx, t, nil) }

// installFor installs the packages of a target. users are the files of the packages that need it, the first one first.
func (r *Reader) installFor(ctx context.Context, t Target, users []string) error {
	list, err := workspace.ReadPackages(t.File)
	if err != nil {
		return err
	}
	users = append(slices.Clip(users), t.File)
	for _, entry := range list {
		if err := r.prepare(ctx, entry, users); err != nil {
			return fmt.Errorf("the package %q of %s: %w", entry.Name, filepath.Base(t.File), err)
		}
		p, err := r.Ask(ctx, entry)
		if err != nil {
			return fmt.Errorf("the package %q of %s: %w", entry.Name, filepath.Base(t.File), err)
		}
		_, err = r.use(ctx, p, t)
		if !errors.As(err, new(*tooling.NoGeneratorError)) {
			if err != nil {
				return err
			}
			continue
		}
		if _, missing := os.Stat(t.sdk(p)); missing != nil && p.Published(t.Program.Runtime) == "" {
			return withoutSDK(p, t, err)
		}
	}
	return nil
}

// prepare installs the dependencies of a plugin on the disk: its own packages, and those of its language. users are the files of the
// packages that need the plugin.
func (r *Reader) prepare(ctx context.Context, entry workspace.Package, users []string) error {
	if !filepath.IsAbs(entry.Source) {
		return nil
	}
	m, err := source.ReadManifest(entry.Source, plugin.PluginManifest)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return nil // it is an executable
	case err != nil:
		return err
	}
	t := Target{File: filepath.Join(entry.Source, plugin.PluginManifest), Program: m.Project(entry.Source)}
	if at := slices.Index(users, t.File); at >= 0 {
		return cycle(users, at)
	}
	if err := r.installFor(ctx, t, users); err != nil {
		return err
	}
	return dependencies.Install(ctx, r.Terminal, t.Program, r.Options)
}

// cycle returns the error of plugins that need each other: from index at on, each file needs the next, and the last one the first.
func cycle(users []string, at int) error {
	var folders []string
	for _, file := range append(users[at:], users[at]) {
		folder, err := filepath.Rel(filepath.Dir(users[0]), filepath.Dir(file))
		if err != nil {
			return err
		}
		folders = append(folders, folder)
	}
	return fmt.Errorf("installing `packages` from %s: cycle found: %s\nName under `packages` only what does not need the plugin itself",
		filepath.Base(users[0]), strings.Join(folders, " -> "))
}

// enter adds a package to the file of the target. It leaves out a package that consists of a schema alone.
func (r *Reader) enter(p *Package, t Target) error {
	if t.File == "" || p.Entry == nil {
		return nil
	}
	entry := *p.Entry
	if p.plugin != "" {
		relative, err := filepath.Rel(filepath.Dir(t.File), p.plugin)
		if err != nil {
			return err
		}
		if entry.Source = filepath.ToSlash(relative); !strings.HasPrefix(entry.Source, ".") {
			entry.Source = "./" + entry.Source
		}
	}
	if err := workspace.AddPackage(t.File, entry); err != nil {
		return err
	}
	fmt.Fprintf(r.Terminal.Err, "Added the package %s to %s\n", p.Title(), filepath.Base(t.File))
	return nil
}

// withoutSDK returns the error of a package whose SDK cannot be generated. It explains what has been done and what can be done.
func withoutSDK(p *Package, t Target, why error) error {
	text := fmt.Sprintf("the SDK of %s was not generated: %v", p.Title(), why)
	if t.File != "" && p.Entry != nil {
		text += fmt.Sprintf("\nThe package is in %s: when the plugin is there, `sluice install` generates the SDK", filepath.Base(t.File))
	}
	if command := p.Published(t.Program.Runtime); command != "" {
		text += fmt.Sprintf("\nIf its authors have published one, `%s` installs it", command)
	}
	return errors.New(text)
}

// explain adds advice to an error of a plugin that returned no schema.
func explain(ctx context.Context, name string, of *providers.ParameterizeRequest, err error) error {
	switch {
	case context.Cause(ctx) != nil, errors.As(err, new(*plugin.MissingError)):
		return err
	case of != nil && errors.Is(err, providers.ErrUnsupported):
		return fmt.Errorf("the plugin %s takes no parameters, or has no schema for them: %w", name, err)
	case errors.Is(err, providers.ErrUnsupported):
		return fmt.Errorf("the plugin %s does not answer GetSchema, so nothing is known about its package: %w", name, err)
	}
	if _, said := status.FromError(err); said && of == nil {
		return fmt.Errorf("the schema of %s: %w\nIf the package of %s is made of parameters, write them after the name", name, err, name)
	}
	return err
}

// newPackage parses a schema. of is not nil if the plugin was parameterized.
func newPackage(from string, text []byte, of *providers.ParameterizeRequest) (*Package, error) {
	s, err := tooling.ReadPackageSchema(text)
	if err != nil {
		return nil, fmt.Errorf("the schema of %s cannot be used: %w", from, err)
	}
	if of != nil && s.Parameterization == nil && s.ExtensionParameterization == nil {
		return nil, fmt.Errorf("the schema of %s cannot be used: the plugin was given parameters, but the schema of the package %q has no "+
			"parameterization, without which no program can use it; this is a bug in the plugin", from, s.Name)
	}
	return &Package{PackageSchema: s, Schema: text}, nil
}
