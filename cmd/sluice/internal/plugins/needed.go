package plugins

import (
	"context"
	"errors"
	"slices"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/session"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/workspace"
	"github.com/sluice-iac/sluice/host"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/plugin"
	"github.com/sluice-iac/sluice/providers/plugin/install"
	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/stages"
)

// Need is a plugin that a project needs.
type Need struct {
	install.Request
	// Location is where it is; nil if it is missing, or served by sluice itself.
	Location *plugin.Location
	// Builtin is true if it is missing and sluice serves the package itself.
	Builtin bool
}

// Needed lists the plugins that the program of the project needs. If a plugin that runs the program is missing, it is
// installed.
func (p *Places) Needed(ctx context.Context) ([]Need, error) {
	if p.Project == nil {
		return nil, exit.AsUsage(workspace.ErrNoProject)
	}
	options := p.Options()
	directory, entry, err := source.Locate(p.Project.Directory(), p.Project.Main)
	if err != nil {
		return nil, exit.AsUsage(err)
	}
	service := host.ServeEngine(ctx)
	defer func() { _ = service.Close() }()
	options.Engine, options.ProjectPackages = service, session.ProjectPackages(p.Project)
	program, err := host.NewProgram(source.Project{
		Runtime: p.Project.Runtime, Options: p.Project.RuntimeOptions, Root: p.Project.Directory(), Directory: directory, Entry: entry,
	}, options)
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

// named adds the plugins of the packages that the project names although the program does not use them.
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

// entry finds the plugin of a package that the project names. That of a folder is there, and is called after the package.
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
