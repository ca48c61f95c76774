package plugins

import (
	"errors"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/session"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/workspace"
	"github.com/sluice-iac/sluice/host"
	"github.com/sluice-iac/sluice/providers/plugin"
	"github.com/sluice-iac/sluice/providers/plugin/install"
	stateworkspace "github.com/sluice-iac/sluice/state/backend/workspace"
)

// Places are where plugins are looked for.
type Places struct {
	Terminal  *terminal.Terminal
	Home      string
	Project   *workspace.Project // nil outside of projects
	Installer *install.Installer
	Parallel  int // how many plugins are installed at once; below 1 it is all
}

// Find returns the places of plugins for this directory.
func Find(t *terminal.Terminal) (*Places, error) {
	project, err := session.FindProject()
	if err != nil && !errors.Is(err, workspace.ErrNoProject) {
		return nil, err
	}
	return Of(t, project)
}

// Of returns the places of plugins for a project, which is nil for what belongs to none.
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

// options are the options of hosts that look in these places.
func (p *Places) options() host.PluginOptions {
	return host.PluginOptions{
		Home: p.Home, LookupEnv: p.Terminal.Lookup, Warn: func(text string) { p.Terminal.Warn("%s", text) },
		ProjectPlugins: session.ProjectPlugins(p.Project), LogFlags: p.Terminal.PluginFlags,
	}
}

// Options are the options of hosts that look in these places, and install what is missing.
func (p *Places) Options() host.PluginOptions {
	options := p.options()
	options.Installer, options.Note, options.Log = p.Installer, p.note, p.Terminal.Log
	return options
}

// Finder finds plugins in these places.
func (p *Places) Finder() plugin.Finder { return p.options().Finder() }

// All lists the plugins in these places.
func (p *Places) All() []plugin.Listing { return host.InstalledPlugins(p.options()) }

// Cached lists the plugins that were installed.
func (p *Places) Cached() []plugin.Listing {
	var list []plugin.Listing
	for _, l := range p.All() {
		if l.Location.Source == plugin.FromCache {
			list = append(list, l)
		}
	}
	return list
}
