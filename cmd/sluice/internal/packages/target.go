package packages

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/workspace"
	"github.com/sluice-iac/sluice/providers/plugin"
	"github.com/sluice-iac/sluice/source"
)

// Target is a program or plugin to which packages are added.
type Target struct {
	File    string // the project file, or the plugin's file; "" for a folder without one
	Program source.Project
}

// FindTarget returns the project or plugin of the working directory or, if a language is given, that directory itself.
func FindTarget(language string) (Target, error) {
	here, err := os.Getwd()
	if err != nil {
		return Target{}, err
	}
	file, err := workspace.PackageFile(here)
	switch {
	case err == nil && language != "":
		return Target{}, exit.Usagef("--language is for use outside a Pulumi project or plugin, but there is %s; leave it out", file)
	case errors.Is(err, workspace.ErrNoProject) && language != "":
		return Target{Program: source.Project{Runtime: Language(language), Root: here, Directory: here, Entry: "."}}, nil
	case errors.Is(err, workspace.ErrNoProject):
		return Target{}, exit.AsUsage(fmt.Errorf("no project file found: %w; outside of projects, name the language with --language", err))
	case err != nil:
		return Target{}, err
	}
	t := Target{File: file}
	folder := filepath.Dir(file)
	if filepath.Base(file) == plugin.PluginManifest {
		m, err := source.ReadManifest(folder, plugin.PluginManifest)
		t.Program = m.Project(folder)
		return t, exit.AsUsage(err)
	}
	project, err := workspace.ReadProject(file)
	if err != nil {
		return t, err
	}
	if project.Runtime == "" {
		return t, exit.Usagef("%s names no runtime, so no package can be added; write `runtime: nodejs`, or the language of the program", file)
	}
	t.Program = source.Project{Runtime: project.Runtime, Options: project.RuntimeOptions, Root: folder}
	if t.Program.Directory, t.Program.Entry, err = source.Locate(folder, project.Main); err != nil {
		err = exit.AsUsage(err)
	}
	return t, err
}

// sdk returns the folder of a package's SDK.
func (t Target) sdk(p *Package) string { return filepath.Join(t.Program.Root, "sdks", p.Folder()) }
