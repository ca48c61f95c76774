package host_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/host"
	"github.com/sluice-iac/sluice/providers/providertest"
	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/stages"
)

const text = "resources: {web: {type: 'simple:index:Thing', properties: {size: 1}}}\n"

func TestAProgramMayBeAText(t *testing.T) {
	cloud := providertest.NewCloud(providertest.Options{}).Host()
	options := sluice.Options{Project: "shop", Stack: "dev", Providers: cloud, Program: host.NewYAMLText(text, nil)}
	result, err := sluice.Update(t.Context(), options)
	require.NoError(t, err)
	require.Equal(t, 2, result.Changes[stages.OpCreate], "with the stack itself")

	options.Program = host.NewYAMLText("resources: [", nil)
	_, err = sluice.Preview(t.Context(), options)
	require.Error(t, err)

	options.Program = host.NewYAMLText("", nil) // and no file of the working directory
	result, err = sluice.Preview(t.Context(), options)
	require.NoError(t, err)
	for _, step := range result.Steps() {
		require.True(t, step.URN.IsRootStack(), step.URN)
	}
}

func TestAProgramMayBeFoundInADirectory(t *testing.T) {
	root := t.TempDir()
	below := filepath.Join(root, "a", "b")
	require.NoError(t, os.MkdirAll(below, 0o755))
	plugins := host.PluginOptions{LookupEnv: func(string) (string, bool) { return "", false }}

	_, err := host.WithProgramIn(sluice.Options{}, below, plugins)
	require.ErrorIs(t, err, os.ErrNotExist)

	file := filepath.Join(root, "Pulumi.yaml")
	for content, want := range map[string]string{
		"runtime: yaml\n":                              "has no name",
		"name: shop\n":                                 "names no runtime",
		"name: shop\nruntime: nothing\n":               "nothing",
		"name: shop\nruntime: yaml\nmain: elsewhere\n": "elsewhere",
	} {
		require.NoError(t, os.WriteFile(file, []byte(content), 0o644))
		_, err := host.WithProgramIn(sluice.Options{}, below, plugins)
		require.ErrorContains(t, err, want)
	}

	require.NoError(t, os.WriteFile(file, []byte("name: shop\nruntime: yaml\nmain: a\n"), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(root, "a", "Main.yaml"), []byte("variables: {x: 1}\n"), 0o644))
	options, err := host.WithProgramIn(sluice.Options{Stack: "dev"}, below, plugins)
	require.NoError(t, err)
	defer options.Program.Close()
	require.Equal(t, []string{"shop", "dev", root, filepath.Join(root, "a")}, []string{options.Project, options.Stack, options.Root, options.Directory})
	_, err = sluice.Update(t.Context(), options)
	require.NoError(t, err)
}

func TestAProgramInADirectoryHasTheTypesOfTheProvidersOfItsEngine(t *testing.T) {
	root := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(root, "Pulumi.yaml"), []byte("name: shop\nruntime: yaml\n"+text), 0o644))
	cloud := providertest.NewCloud(providertest.Options{})
	plugins := host.PluginOptions{LookupEnv: func(string) (string, bool) { return "", false }}
	options, err := host.WithProgramIn(sluice.Options{Stack: "dev", Providers: cloud.Host()}, root, plugins)
	require.NoError(t, err)
	defer options.Program.Close()
	result, err := sluice.Update(t.Context(), options)
	require.NoError(t, err)
	require.Equal(t, 2, result.Changes[stages.OpCreate], "with the stack itself")
}

func TestTheErrorOfAProgramHasWhatItHasSaid(t *testing.T) {
	cloud := providertest.NewCloud(providertest.Options{}).Host()
	options := sluice.Options{Project: "shop", Stack: "dev", Providers: cloud}
	for text, want := range map[string]string{
		"resources: {a: {type: 'simple:index:Thing', properties: {x: '${nothing}'}}}\n": `"nothing"`,
		"config: {key: {type: string}}\nresources: {}\n":                                "key",
	} {
		options.Program = host.NewYAMLText(text, cloud)
		_, err := sluice.Update(t.Context(), options)
		require.ErrorIs(t, err, source.ErrReported)
		require.ErrorContains(t, err, want)
	}

	options.Program = saying{"no hunter2 here", "really"}
	options.Config = sluice.Config{"shop:password": {Text: "hunter2", Secret: true}}
	_, err := sluice.Update(t.Context(), options)
	require.ErrorIs(t, err, source.ErrReported)
	require.ErrorContains(t, err, "no [secret] here; really")
	require.NotContains(t, err.Error(), "hunter2")
}

// saying is a program that logs errors and fails.
type saying []string

func (saying) Packages(context.Context) ([]stages.Package, error) { return nil, nil }

func (s saying) Run(ctx context.Context, host source.Host) error {
	for _, text := range s {
		host.Monitor.Log(ctx, stages.LogMessage{Severity: stages.Error, Message: text + "\n"})
	}
	host.Monitor.Log(ctx, stages.LogMessage{Severity: stages.Warning, Message: "never mind"})
	return source.ErrReported
}

func (saying) Close() error { return nil }
