package packages

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"go.yaml.in/yaml/v3"
	"google.golang.org/grpc/status"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/plugins"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/workspace"
	"github.com/sluice-iac/sluice/host"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/plugin"
	"github.com/sluice-iac/sluice/urn"
)

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
		if err := (installer{r}).prepare(ctx, entry, nil); err != nil {
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

// Ask returns the schema of a package, from its plugin. The folder of a plugin must be absolute.
func (r *Reader) Ask(ctx context.Context, entry workspace.Package) (*Package, error) {
	at, err := placeOf(r.Options, entry)
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
	p.Entry, p.plugin, p.isBuiltin = &entry, at.folder, at.isBuiltin()
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
	at, err := placeOf(r.Options, entry)
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
	return installer{r}.add(ctx, p, t)
}

// Install installs the plugins of the target's packages, and the dependencies of those that are written in a program language, and
// generates the SDKs. If there is no generator for an SDK, it uses the existing one, or the published one.
func (r *Reader) Install(ctx context.Context, t Target) error {
	return installer{r}.installFor(ctx, t, nil)
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
