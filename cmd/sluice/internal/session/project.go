package session

import (
	"os"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/workspace"
)

// FindProject reads the project file of the working directory or of the nearest one above it.
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

// ProjectPlugins returns the plugins that a project file names.
func ProjectPlugins(p *workspace.Project) []sluice.ProjectPlugin {
	var out []sluice.ProjectPlugin
	add := func(kind sluice.PluginKind, plugins []workspace.LocalPlugin) {
		for _, p := range plugins {
			out = append(out, sluice.ProjectPlugin{Kind: kind, Name: p.Name, Version: p.Version, Directory: p.Path})
		}
	}
	add(sluice.ResourcePlugin, p.Plugins.Providers)
	add(sluice.LanguagePlugin, p.Plugins.Languages)
	add(sluice.AnalyzerPlugin, p.Plugins.Analyzers)
	return out
}
