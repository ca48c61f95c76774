package runtimes_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/providers/plugin"
	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/source/golang"
	"github.com/sluice-iac/sluice/source/java"
	"github.com/sluice-iac/sluice/source/language"
	"github.com/sluice-iac/sluice/source/nodejs"
	"github.com/sluice-iac/sluice/source/runtimes"
	"github.com/sluice-iac/sluice/source/tooling"
	"github.com/sluice-iac/sluice/source/yaml"
)

func finder(env map[string]string) plugin.Finder {
	return plugin.Finder{LookupEnv: func(name string) (string, bool) { v, ok := env[name]; return v, ok }}
}

func TestALanguagePluginWinsAndSomeRuntimesNeedNone(t *testing.T) {
	bin := t.TempDir()
	for _, name := range []string{"go", "yaml"} {
		require.NoError(t, os.WriteFile(filepath.Join(bin, "pulumi-language-"+name), []byte("#!/bin/sh\n"), 0o755))
	}
	for name, c := range map[string]struct {
		runtime string
		env     map[string]string
		want    tooling.Runtime
	}{
		"nodejs":                     {"nodejs", nil, nodejs.Runtime{}},
		"java":                       {"java", nil, java.Runtime{}},
		"go":                         {"go", nil, golang.Runtime{}},
		"go with a plugin":           {"go", map[string]string{"PATH": bin}, language.Runtime{}},
		"python to attach to":        {"python", map[string]string{"PULUMI_DEBUG_LANGUAGES": "go:1, python:12345"}, language.Runtime{}},
		"yaml":                       {"yaml", nil, yaml.Runtime{}},
		"yaml with a plugin":         {"yaml", map[string]string{"PATH": bin}, yaml.Runtime{}},
		"yaml whose plugin is asked": {"yaml", map[string]string{"PATH": bin, "PULUMI_YAML_PLUGIN": "true"}, language.Runtime{}},
		"yaml to attach to":          {"yaml", map[string]string{"PULUMI_DEBUG_LANGUAGES": "yaml:12345"}, language.Runtime{}},
		"another to attach to":       {"nodejs", map[string]string{"PULUMI_DEBUG_LANGUAGES": "python:12345"}, nodejs.Runtime{}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := runtimes.Choose(c.runtime, runtimes.Options{Finder: finder(c.env)})
			require.NoError(t, err)
			require.IsType(t, c.want, got)
		})
	}
}

func TestARuntimeWithoutAPluginIsAnErrorThatSaysWhereItWasLookedFor(t *testing.T) {
	f := finder(nil)
	f.Home, f.Bundled = "/home/me/.pulumi", "/opt/sluice"
	_, err := runtimes.Choose("dotnet", runtimes.Options{Finder: f})
	var unsupported *runtimes.UnsupportedRuntimeError
	require.ErrorAs(t, err, &unsupported)
	for _, part := range []string{"pulumi-language-dotnet", "$PATH", "/opt/sluice", filepath.Join("/home/me/.pulumi", "plugins")} {
		require.ErrorContains(t, err, part)
	}
}

func TestAMalformedPortIsAnError(t *testing.T) {
	for _, text := range []string{"go", "go:", "go:x", "go:0", "go:70000"} {
		_, err := runtimes.Choose("go", runtimes.Options{Finder: finder(map[string]string{"PULUMI_DEBUG_LANGUAGES": text})})
		require.ErrorContains(t, err, "PULUMI_DEBUG_LANGUAGES")
	}
}

func TestAYAMLPluginThatTheProjectNamesIsUsed(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "pulumi-language-yaml"), []byte("#!/bin/sh\n"), 0o755))
	f := finder(nil)
	f.Project = []plugin.ProjectPlugin{{Kind: plugin.Language, Name: "yaml", Directory: dir}}
	got, err := runtimes.Choose("yaml", runtimes.Options{Finder: f})
	require.NoError(t, err)
	require.IsType(t, language.Runtime{}, got)
}

func TestAYAMLPluginThatIsAskedForAndMissingIsAnError(t *testing.T) {
	_, err := runtimes.Choose("yaml", runtimes.Options{Finder: finder(map[string]string{"PULUMI_YAML_PLUGIN": "1"})})
	require.ErrorContains(t, err, "PULUMI_YAML_PLUGIN asks for the language plugin pulumi-language-yaml, which was not found")
}

func TestAMissingLanguagePluginIsAcquiredWhenTheProgramIsUsed(t *testing.T) {
	f := finder(nil)
	f.Home = t.TempDir()
	var asked []plugin.Wanted
	options := runtimes.Options{Finder: f, Acquire: func(_ context.Context, w plugin.Wanted) error {
		asked = append(asked, w)
		return errors.New("there is no network")
	}}
	runtime, err := runtimes.Choose("dotnet", options)
	require.NoError(t, err)
	p := runtime.Program(source.Project{Runtime: "dotnet", Directory: t.TempDir()})
	require.Empty(t, asked)
	_, err = p.Packages(t.Context())
	require.Equal(t, []plugin.Wanted{{Kind: plugin.Language, Name: "dotnet"}}, asked)
	require.ErrorAs(t, err, new(*runtimes.UnsupportedRuntimeError))
	require.ErrorContains(t, err, "pulumi-language-dotnet, which was not found")
	require.ErrorContains(t, err, "there is no network")
	require.NoError(t, p.Close())
}
