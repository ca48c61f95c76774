package plugin_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/plugin"
	"github.com/sluice-iac/sluice/urn"
	"github.com/stretchr/testify/require"
)

// tree makes executables of the plugin "simple", one in each of the directories.
func tree(t *testing.T, directories ...string) string {
	t.Helper()
	root := t.TempDir()
	for _, d := range directories {
		require.NoError(t, os.MkdirAll(filepath.Join(root, d), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(root, d, "pulumi-resource-simple"), []byte("#!/bin/sh\n"), 0o755))
	}
	return root
}

func TestPluginsAreFoundInOrder(t *testing.T) {
	root := tree(t, "project", "path", "bundled", "home/plugins/resource-simple-v1.0.0")
	all := plugin.Finder{
		Project: []plugin.ProjectPlugin{{Kind: plugin.Resource, Name: "simple", Directory: filepath.Join(root, "project")}},
		Bundled: filepath.Join(root, "bundled"), Home: filepath.Join(root, "home"),
	}
	env := map[string]string{"PATH": "relative" + string(os.PathListSeparator) + filepath.Join(root, "path")}
	warnings := 0
	all.LookupEnv = func(name string) (string, bool) { v, ok := env[name]; return v, ok }
	all.Warn = func(string) { warnings++ }

	find := func(f plugin.Finder) plugin.Source {
		at, err := f.Find(plugin.Resource, "simple", "1.0.0")
		require.NoError(t, err)
		require.Equal(t, filepath.Dir(at.Executable), at.Directory)
		return at.Source
	}
	require.Equal(t, plugin.FromProject, find(all))
	all.Project[0].Version = "2.0.0"
	require.Equal(t, plugin.FromPath, find(all), "a project plugin of another version is not used")
	require.Equal(t, 2, warnings, "about the version, and about the bundled copy")
	env["PULUMI_IGNORE_AMBIENT_PLUGINS"] = "true"
	require.Equal(t, plugin.FromBundle, find(all))
	all.Bundled = ""
	require.Equal(t, plugin.FromCache, find(all))
	all.Home = ""
	_, err := all.Find(plugin.Resource, "simple", "1.0.0")
	require.ErrorAs(t, err, new(*plugin.MissingError))
}

func TestCacheVersionsAreExact(t *testing.T) {
	root := tree(t,
		"plugins/resource-simple", "plugins/resource-simple-v1.0.0", "plugins/resource-simple-v1.2.0",
		"plugins/resource-simple-v2.0.0-beta.1", "plugins/resource-simple-v3.0.0", "plugins/resource-simple-v4.0.0.tmp12",
		"plugins/resource-simpler-v9.0.0", "plugins/language-simple-v9.0.0", "plugins/resource-simple-v0.0.0-xabc")
	require.NoError(t, os.WriteFile(filepath.Join(root, "plugins/resource-simple-v3.0.0.partial"), nil, 0o644))
	cases := map[string]struct{ version, legacy, want string }{
		"exact":           {version: "1.0.0", want: "v1.0.0"},
		"not there":       {version: "1.1.0"},
		"partial":         {version: "3.0.0"},
		"prerelease":      {version: "2.0.0-beta.1", want: "v2.0.0-beta.1"},
		"commit":          {version: "0.0.0-xabc", want: "v0.0.0-xabc"},
		"other commit":    {version: "0.0.0-xabd"},
		"none":            {want: "v1.2.0"},
		"legacy":          {version: "1.1.0", legacy: "true", want: "v1.2.0"},
		"legacy, too new": {version: "5.0.0", legacy: "true"},
		"not a version":   {version: "latest"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			f := plugin.Finder{Home: root, LookupEnv: func(name string) (string, bool) {
				return c.legacy, name == "PULUMI_ENABLE_LEGACY_PLUGIN_SEARCH"
			}}
			at, err := f.Find(plugin.Resource, "simple", c.version)
			if c.want == "" {
				require.ErrorAs(t, err, new(*plugin.MissingError))
				return
			}
			require.NoError(t, err)
			require.Equal(t, "resource-simple-"+c.want, filepath.Base(at.Directory))
			require.FileExists(t, at.Directory+".lastused")
		})
	}
}

func TestMalformedProjectPluginIsAnError(t *testing.T) {
	root := tree(t, "a", "b")
	at := func(directories ...string) plugin.Finder {
		f := plugin.Finder{LookupEnv: func(string) (string, bool) { return "", false }}
		for _, d := range directories {
			f.Project = append(f.Project, plugin.ProjectPlugin{Kind: plugin.Resource, Name: "simple", Directory: filepath.Join(root, d)})
		}
		return f
	}
	_, err := at("a", "b").Find(plugin.Resource, "simple", "")
	require.ErrorContains(t, err, "twice")
	_, err = at("missing").Find(plugin.Resource, "simple", "")
	require.ErrorContains(t, err, "not a directory")

	require.NoError(t, os.Mkdir(filepath.Join(root, "hosted"), 0o755))
	_, err = at("hosted").Find(plugin.Resource, "simple", "")
	require.ErrorContains(t, err, "no executable")
	require.NoError(t, os.WriteFile(filepath.Join(root, "hosted", "PulumiPlugin.yaml"), []byte("runtime: nodejs\n"), 0o644))
	_, err = at("hosted").Find(plugin.Resource, "simple", "")
	require.ErrorAs(t, err, new(*plugin.LanguageHostedError))
}

func TestNamesThatArePathsFindNothing(t *testing.T) {
	root := tree(t, "path", "home/plugins/resource-simple-v1.0.0", "elsewhere/deep")
	// If pulumi-resource-.. is a directory, the system follows the path as well.
	require.NoError(t, os.MkdirAll(filepath.Join(root, "path/pulumi-resource-.."), 0o755))
	f := plugin.Finder{
		Project: []plugin.ProjectPlugin{{Kind: plugin.Resource, Name: "../pulumi-resource-simple", Directory: filepath.Join(root, "elsewhere")}},
		Home:    filepath.Join(root, "home"), Bundled: filepath.Join(root, "elsewhere"),
		LookupEnv: func(name string) (string, bool) { return filepath.Join(root, "path"), name == "PATH" },
	}
	for _, name := range []string{
		"../pulumi-resource-simple", "../../elsewhere/deep/pulumi-resource-simple", "x/../../path/pulumi-resource-simple", "", ".", "..",
		"simple\x00", `..\x`, "-simple", "/etc/passwd",
	} {
		_, err := f.Find(plugin.Resource, name, "")
		var refused *urn.NameError
		require.ErrorAs(t, err, &refused, "%q", name)
		require.Equal(t, name, refused.Name)
	}
	_, err := f.Find(plugin.Resource, "simple", "1.0.0/../../..")
	require.NoError(t, err, "a version leads nowhere, and $PATH has no versions")
	f.LookupEnv = func(string) (string, bool) { return "", false }
	_, err = f.Find(plugin.Resource, "simple", "1.0.0/../../../elsewhere/deep")
	require.ErrorAs(t, err, new(*plugin.MissingError))
	require.Len(t, f.List(), 1, "only the one in the cache")
}

func TestURLsOfRepositoriesAreNoPaths(t *testing.T) {
	root := tree(t, "home/plugins/resource-simple-v1.0.0")
	host := plugin.NewHost(plugin.Options{Home: filepath.Join(root, "home")})
	for _, url := range []string{`git://..\..\x`, "git://", "git://-x/y", "git://a/b c"} {
		_, err := host.Load(t.Context(), providers.Spec{Package: "simple", DownloadURL: url})
		require.ErrorAs(t, err, new(*urn.NameError), url)
	}
	_, err := host.Load(t.Context(), providers.Spec{Package: "simple", DownloadURL: "git://example.com:3000/../../~somebody/repo"})
	require.ErrorAs(t, err, new(*plugin.MissingError))
}

func TestListHasEveryPluginThatIsThere(t *testing.T) {
	root := tree(t, "project", "path", "home/plugins/resource-simple-v1.2.0", "home/plugins/resource-simple-v1.10.0",
		"home/plugins/resource-simple-v2.0.0", "home/plugins/empty-v1.0.0")
	require.NoError(t, os.WriteFile(filepath.Join(root, "home/plugins/resource-simple-v2.0.0.partial"), nil, 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(root, "path", "pulumi-language-odd"), []byte("#!/bin/sh\n"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(root, "path", "pulumi-language-text"), nil, 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(root, "path", "pulumi"), nil, 0o755))
	f := plugin.Finder{
		Project: []plugin.ProjectPlugin{{Kind: plugin.Resource, Name: "simple", Version: "9.0.0", Directory: filepath.Join(root, "project")}},
		Home:    filepath.Join(root, "home"),
		LookupEnv: func(name string) (string, bool) {
			return filepath.Join(root, "path") + string(os.PathListSeparator) + filepath.Join(root, "gone"), name == "PATH"
		},
	}
	var got []string
	for _, l := range f.List() {
		got = append(got, string(l.Kind)+" "+l.Name+" "+l.Version+" "+string(l.Location.Source))
	}
	require.Equal(t, []string{
		"language odd  path", "resource simple 9.0.0 project", "resource simple  path", "resource simple 1.10.0 cache", "resource simple 1.2.0 cache",
	}, got)
}
