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

// ProjectPlugins returns the plugins that a project file names; none for nil, which is no project.
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
