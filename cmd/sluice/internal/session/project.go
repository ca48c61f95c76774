package session

import (
	"os"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/workspace"
	"github.com/sluice-iac/sluice/providers/plugin"
)

// FindProject reads the project file of the working directory or of its nearest parent that has one.
func FindProject() (*workspace.Project, error) {
	cwd, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	path, err := workspace.FindProject(cwd)
	if err != nil {
		return nil, err
	}
	return workspace.ReadProject(path)
}

// ProjectPackages returns the packages of which a project file has more than a name, and which are not in folders or git repositories: those
// are plugins of the project. p is nil outside a project.
func ProjectPackages(p *workspace.Project) []plugin.ProjectPackage {
	if p == nil {
		return nil
	}
	var out []plugin.ProjectPackage
	for _, entry := range p.Packages {
		_, local := entry.IsLocal(p.Directory())
		if _, _, err := entry.Repository(); local || err == nil || entry.IsBare() {
			continue
		}
		said := plugin.ProjectPackage{Name: entry.Name, Plugin: entry.Source, Version: entry.Version, DownloadURL: entry.Server, Parameters: entry.Parameters}
		if entry.Source != entry.Name && len(entry.Parameters) == 0 {
			// The key is the project's name for the package, which has the name of its plugin.
			of := said
			of.Name = entry.Source
			out = append(out, of)
		}
		if len(entry.Extensions) == 0 {
			out = append(out, said)
		}
	}
	return out
}

// ProjectPlugins returns the plugins that a project file names; p is nil outside a project.
func ProjectPlugins(p *workspace.Project) []plugin.ProjectPlugin {
	if p == nil {
		return nil
	}
	var out []plugin.ProjectPlugin
	add := func(kind plugin.Kind, plugins []workspace.NamedPlugin) {
		for _, p := range plugins {
			out = append(out, plugin.ProjectPlugin{Kind: kind, Name: p.Name, Version: p.Version, Directory: p.Path, DownloadURL: p.DownloadURL})
		}
	}
	add(plugin.Resource, p.Plugins.Providers)
	add(plugin.Language, p.Plugins.Languages)
	add(plugin.Analyzer, p.Plugins.Analyzers)
	return out
}
