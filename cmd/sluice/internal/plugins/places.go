package plugins

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/Masterminds/semver/v3"
	"github.com/sourcegraph/conc/pool"

	"github.com/sluice-iac/sluice/advice"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/advise"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/session"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/workspace"
	"github.com/sluice-iac/sluice/host"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/plugin"
	"github.com/sluice-iac/sluice/providers/plugin/install"
	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/stages"
	stateworkspace "github.com/sluice-iac/sluice/state/backend/workspace"
)

// Places are the places of plugins.
type Places struct {
	Terminal  *terminal.Terminal
	Home      string
	Project   *workspace.Project // nil outside a project
	Installer *install.Installer
	Parallel  int // the number of plugins installed at once; below 1 there is no limit
}

// Find returns the places of plugins for this directory.
func Find(t *terminal.Terminal) (*Places, error) {
	project, err := session.FindProject()
	if err != nil && !errors.Is(err, workspace.ErrNoProject) {
		return nil, err
	}
	return Of(t, project)
}

// Of returns the places of plugins for a project, which is nil outside a project.
func Of(t *terminal.Terminal, project *workspace.Project) (*Places, error) {
	home, err := stateworkspace.Home(t.Lookup)
	if err != nil {
		return nil, err
	}
	p := &Places{Terminal: t, Home: home, Project: project, Parallel: Parallel}
	options := p.options()
	options.Note = p.note
	p.Installer = host.NewInstaller(install.Options{Home: home, LookupEnv: t.Lookup}, options)
	return p, nil
}

// options returns the options of hosts that use these places.
func (p *Places) options() host.PluginOptions {
	return host.PluginOptions{
		Home: p.Home, LookupEnv: p.Terminal.Lookup, Warn: func(text string) { p.Terminal.Warn("%s", text) },
		ProjectPlugins: session.ProjectPlugins(p.Project), LogFlags: p.Terminal.PluginFlags,
	}
}

// Options returns the options of hosts that use these places, and install missing plugins.
func (p *Places) Options() host.PluginOptions {
	options := p.options()
	options.Installer, options.Note, options.Log = p.Installer, p.note, p.Terminal.Log
	return options
}

// Finder finds plugins in these places.
func (p *Places) Finder() plugin.Finder { return p.options().Finder() }

// All lists the plugins in these places.
func (p *Places) All() []plugin.Listing { return host.InstalledPlugins(p.options()) }

// Cached lists the installed plugins.
func (p *Places) Cached() []plugin.Listing {
	var list []plugin.Listing
	for _, l := range p.All() {
		if l.Location.Source == plugin.FromCache {
			list = append(list, l)
		}
	}
	return list
}

// Parallel is the default number of plugins installed at once.
const Parallel = 4

// Install installs plugins, several at the same time, and shows the progress. It joins the errors of all that failed.
func (p *Places) Install(ctx context.Context, requests []install.Request) error {
	shown := newProgress(p.Terminal)
	defer shown.close()
	group := pool.NewWithResults[error]()
	if p.Parallel > 0 {
		group = group.WithMaxGoroutines(p.Parallel)
	}
	for number, r := range requests {
		r.Observe = func(n install.Progress) { shown.observe(number, n) }
		group.Go(func() error {
			got, err := p.Installer.Install(ctx, r)
			shown.ended(number, got, err)
			return err
		})
	}
	return errors.Join(group.Wait()...)
}

// Newer returns the lowest installed version of a plugin that is at least the requested one; "" if there is none, or if no
// version is requested.
func (p *Places) Newer(r install.Request) string {
	want, err := semver.NewVersion(r.Version)
	if err != nil {
		return ""
	}
	var best *semver.Version
	for _, l := range p.Cached() {
		v, err := semver.NewVersion(l.Version)
		if err != nil || l.Kind != r.Kind || l.Name != r.Name || v.LessThan(want) {
			continue
		}
		if best == nil || v.LessThan(best) {
			best = v
		}
	}
	if best == nil {
		return ""
	}
	return best.String()
}

// Need is a plugin that a project needs.
type Need struct {
	install.Request
	// Location is the place of the plugin; nil if it is missing, or served by sluice itself.
	Location *plugin.Location
	// Builtin is true if it is missing and sluice serves the package itself.
	Builtin bool
}

// Needed lists the plugins that the program of the project needs. It installs a missing plugin that runs the program.
func (p *Places) Needed(ctx context.Context) ([]Need, error) {
	if p.Project == nil {
		return nil, exit.AsUsage(workspace.ErrNoProject)
	}
	options := p.Options()
	directory, entry, err := source.Locate(p.Project.Directory(), p.Project.Main)
	if err != nil {
		return nil, exit.AsUsage(err)
	}
	options.ProjectPackages = session.ProjectPackages(p.Project)
	h := host.Open(ctx, options)
	defer func() { _ = h.Close() }() // its error changes nothing
	program, err := host.NewProgram(source.Project{
		Runtime: p.Project.Runtime, Options: p.Project.RuntimeOptions, Root: p.Project.Directory(), Directory: directory, Entry: entry,
	}, h.Options())
	if err != nil {
		return nil, err
	}
	packages, err := program.Packages(ctx)
	if err = errors.Join(err, program.Close()); err != nil {
		return nil, err
	}
	needs, err := p.needs(packages)
	if err != nil {
		return nil, err
	}
	return p.named(needs)
}

// named adds the plugins of packages that the project lists although the program does not use them.
func (p *Places) named(needs []Need) ([]Need, error) {
	for _, entry := range p.Project.Packages {
		need, err := p.entry(entry)
		if err != nil {
			return nil, err
		}
		need.Builtin = need.Builtin && entry.IsBare()
		at := slices.IndexFunc(needs, func(n Need) bool {
			return n.Name == need.Name && (n.Version == need.Version || n.Version == "" || need.Version == "")
		})
		switch {
		case at < 0:
			needs = append(needs, need)
		case needs[at].Builtin && !need.Builtin:
			needs[at] = need
		}
	}
	return needs, nil
}

// entry finds the plugin of a package that the project lists. A plugin in a folder is not searched for, and is called
// after the package.
func (p *Places) entry(entry workspace.Package) (Need, error) {
	if path, local := entry.IsLocal(p.Project.Directory()); local {
		return Need{
			Request:  install.Request{Kind: plugin.Resource, Name: entry.Name},
			Location: &plugin.Location{Directory: path, Source: plugin.FromProject},
		}, nil
	}
	pkg := stages.Package{Name: entry.Source, Version: entry.Version, DownloadURL: entry.Server}
	if server, version, err := entry.Repository(); err == nil {
		pkg.Name, pkg.Version, pkg.DownloadURL = entry.Name, version, server
	}
	return p.need(pkg)
}

// needs finds the plugins of packages.
func (p *Places) needs(packages []stages.Package) ([]Need, error) {
	var needs []Need
	seen := map[string]bool{}
	for _, pkg := range packages {
		key := pkg.Name + " " + pkg.Version + " " + pkg.DownloadURL
		if pkg.Name == stages.BuiltinPackage || seen[key] {
			continue
		}
		seen[key] = true
		need, err := p.need(pkg)
		if err != nil {
			return nil, err
		}
		needs = append(needs, need)
	}
	return needs, nil
}

func (p *Places) need(pkg stages.Package) (Need, error) {
	spec := p.Finder().Complete(providers.Spec{
		Package: pkg.Name, Version: pkg.Version, DownloadURL: pkg.DownloadURL, Checksums: pkg.Checksums,
	})
	need := Need{Request: install.Request{Kind: plugin.Resource, Source: spec.DownloadURL, Checksums: spec.Checksums}}
	need.Name, need.Version = plugin.PluginOf(spec)
	found, err := p.Finder().Find(need.Kind, need.Name, need.Version)
	var hosted *plugin.LanguageHostedError
	switch {
	case err == nil:
		need.Location = &found
	case errors.As(err, &hosted):
		need.Location = &plugin.Location{Directory: hosted.Directory, Source: hosted.Source}
	case !errors.As(err, new(*plugin.MissingError)):
		return need, err
	default:
		_, err := p.Finder().Find(need.Kind, need.Name, "")
		need.Builtin = err != nil && !pkg.Exact && host.IsBuiltin(pkg.Spec(pkg.Name))
	}
	return need, nil
}

func (p *Places) note(text string, as ...advice.Advice) {
	fmt.Fprintf(p.Terminal.Err, "note: %s\n", p.Terminal.Named(advise.With(text, as...)))
}
