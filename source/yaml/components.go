package yaml

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/sluice-iac/sluice/advice"
	"github.com/sluice-iac/sluice/graph"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/plugin"
	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/source/yaml/internal/ast"
	"github.com/sluice-iac/sluice/source/yaml/internal/bind"
	"github.com/sluice-iac/sluice/source/yaml/internal/packages"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

// ComponentOptions are the inputs of components besides their files.
type ComponentOptions struct {
	Options
	// Project is the project of the program that uses the components. Files are relative to its directory.
	Project source.Project
	// Monitor returns the monitor with which components register their resources; nil if no component will be constructed.
	Monitor func() stages.Monitor
}

// ComponentHost returns a host that serves plugins whose components are written in YAML, and starts all others through
// next. It serves a plugin if next finds a directory with a PulumiPlugin.yaml and no executable ([protocol.md 1.10],
// 11.11).
//
// [protocol.md 1.10]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/protocol.md#110-plugins-in-a-language
func ComponentHost(next providers.Host, o ComponentOptions) providers.Host {
	var host providers.Host
	host = providers.HostFunc(func(ctx context.Context, spec providers.Spec) (providers.Provider, error) {
		p, err := next.Load(ctx, spec)
		var hosted *plugin.LanguageHostedError
		if !errors.As(err, &hosted) || !isYAMLPlugin(hosted.Directory) {
			return p, err
		}
		own := o
		own.Providers = host
		return openComponents(hosted.Directory, own)
	})
	return host
}

// isYAMLPlugin reports whether the runtime of a plugin is yaml.
func isYAMLPlugin(directory string) bool {
	m, err := source.ReadManifest(directory, plugin.PluginManifest)
	return err == nil && m.Runtime.Name == "yaml"
}

// components is the provider of a package whose components are written in YAML.
type components struct {
	providers.Unimplemented
	program  *Program // of the project that uses the components; it is not run
	monitor  func() stages.Monitor
	packages []stages.Package // of the lock files
	plugin   *ast.Plugin
	byToken  map[string]*ast.Component // by lower-case token: case does not matter
	schema   string

	warnings []string  // about the files
	remarks  sync.Once // shows the warnings
}

var _ providers.Provider = (*components)(nil)

// openComponents reads a plugin: its PulumiPlugin.yaml, and the components of the other YAML files beside it.
func openComponents(directory string, o ComponentOptions) (*components, error) {
	c := &components{
		program: New(o.Project, o.Options), monitor: o.Monitor, byToken: map[string]*ast.Component{},
	}
	var err error
	if c.plugin, err = c.read(directory, plugin.PluginManifest); err != nil {
		return nil, err
	}
	others, err := fs.Glob(os.DirFS(directory), "*.yaml")
	if err != nil {
		return nil, err
	}
	for _, name := range others {
		if name == plugin.PluginManifest {
			continue
		}
		more, err := c.read(directory, name)
		if err != nil {
			return nil, err
		}
		c.plugin.Components = append(c.plugin.Components, more.Components...)
	}
	if c.plugin.Name.Value == "" {
		return nil, fmt.Errorf("%s has no `name`, which the types of its components begin with", filepath.Join(directory, plugin.PluginManifest))
	}
	if err := urn.CheckPackageName("package", c.plugin.Name.Value); err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(directory, plugin.PluginManifest), err)
	}
	c.PackageName = c.plugin.Name.Value
	for _, component := range c.plugin.Components {
		if c.named(c.token(component)) != nil {
			return nil, fmt.Errorf("the plugin %s has two components of the name %q", c.PackageName, component.Key.Value)
		}
		c.byToken[strings.ToLower(c.token(component))] = component
	}
	if err := c.refuseCycles(); err != nil {
		return nil, err
	}
	if c.packages, err = packages.Locked(directory); err != nil {
		return nil, err
	}
	c.schema, err = schemaOf(c.plugin)
	return c, err
}

func (c *components) read(directory, name string) (*ast.Plugin, error) {
	path := filepath.Join(directory, name)
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	read, file, diagnostics := ast.ParsePlugin(name, string(b))
	if diagnostics.HasErrors() {
		return nil, &ProgramError{Program: "the plugin in " + directory, Text: diagnostics.ErrorText(file)}
	}
	for _, d := range diagnostics {
		c.warnings = append(c.warnings, d.Text(file))
	}
	return read, nil
}

func (c *components) token(component *ast.Component) string { return tokenOf(c.plugin, component) }

// tokenOf returns the type of a component.
func tokenOf(p *ast.Plugin, component *ast.Component) string {
	return p.Name.Value + ":index:" + component.Key.Value
}

// refuseCycles refuses components that contain themselves: their construction would never end.
func (c *components) refuseCycles() error {
	all := c.plugin.Components
	number := make(map[*ast.Component]graph.ID, len(all))
	for i, component := range all {
		number[component] = graph.ID(i)
	}
	_, cycle := graph.PostOrder(len(all), func(id graph.ID, visit func(graph.ID)) {
		for _, r := range all[id].Template.Resources {
			if r.Get != nil {
				continue
			}
			if part := c.named(r.Type.Value); part != nil {
				visit(number[part])
			}
		}
	})
	if cycle == nil {
		return nil
	}
	return fmt.Errorf("a component of the plugin %s contains itself: %s", c.plugin.Name.Value,
		bind.CycleText(cycle, func(id graph.ID) string { return all[id].Key.Value }))
}

// named returns the component of a type, nil if there is none.
func (c *components) named(token string) *ast.Component {
	parts := strings.Split(token, ":")
	if len(parts) == 2 {
		parts = []string{parts[0], "index", parts[1]}
	}
	return c.byToken[strings.ToLower(strings.Join(parts, ":"))]
}

// Schema describes the components.
func (c *components) Schema(context.Context, providers.SchemaRequest) (string, error) {
	return c.schema, nil
}

// Construct constructs a component. It registers the component itself, then its resources, each with the name of the
// component as the prefix of its own (protocol.md 3.10, 11.11).
func (c *components) Construct(ctx context.Context, req providers.ConstructRequest) (providers.ConstructResponse, error) {
	component := c.named(string(req.Type))
	switch {
	case component == nil:
		return providers.ConstructResponse{}, fmt.Errorf("the plugin %s has no component %s", c.PackageName, req.Type)
	case c.monitor == nil:
		return providers.ConstructResponse{}, errors.New("components can only be made while a program runs")
	}
	t := component.Template
	l := &loaded{template: t, file: t.File, packages: c.packages}
	e := newEvaluation(ctx, c.program, c.monitor(), l, bind.Input)
	res, err := e.construct(ctx, req)
	found := e.report.Sorted()
	switch {
	case err != nil:
		return res, err
	case e.monitor.Err() != nil:
		return res, e.monitor.Err()
	case found.HasErrors():
		return res, advice.With(errors.New(found.ErrorText(t.File)), found.Advice()...)
	}
	for _, d := range found {
		e.engine.Log(ctx, stages.LogMessage{Severity: stages.Warning, URN: res.URN, Message: d.Text(t.File) + "\n"})
	}
	c.remarks.Do(func() {
		for _, text := range c.warnings {
			e.engine.Log(ctx, stages.LogMessage{Severity: stages.Warning, Message: text + "\n"})
		}
	})
	return res, nil
}
