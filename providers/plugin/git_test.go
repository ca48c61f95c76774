package plugin_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/plugin"
)

func TestSourcesInGitHaveANameAndARepository(t *testing.T) {
	for text, want := range map[string]struct{ repository, path, name string }{
		"git://github.com/org/repo":                {"https://github.com/org/repo.git", "", "github.com_org_repo.git"},
		"github.com/org/repo.git/":                 {"https://github.com/org/repo.git", "", "github.com_org_repo.git"},
		"https://github.com/org/repo/a/b":          {"https://github.com/org/repo.git", "a/b", "github.com_org_repo.git_a_b"},
		"git://host.example:3000/a/b/c/d.git/e":    {"https://host.example:3000/a/b/c/d.git", "e", "host.example:3000_a_b_c_d.git_e"},
		"git://me:secret@github.com/org/repo/x":    {"https://me:secret@github.com/org/repo.git", "x", "github.com_org_repo.git_x"},
		"gist.github.com/me/0123":                  {"https://gist.github.com/0123.git", "", "gist.github.com_0123.git"},
		"git://dev.azure.com/org/project/_git/rep": {"https://dev.azure.com/org/project/_git/rep", "", "dev.azure.com_org_project__git_rep"},
	} {
		g, err := plugin.ParseGitSource(text)
		require.NoError(t, err, text)
		require.Equal(t, plugin.GitSource{Repository: want.repository, Path: want.path}, g, text)
		require.Equal(t, want.name, g.Name(), text)
	}
	for _, text := range []string{"git://", "git://github.com", "git://github.com/org", "git://github.com/org/repo/../../x", "git://github.com//x", "git://a b/c/d", "git://h/a/b?x=y"} {
		_, err := plugin.ParseGitSource(text)
		require.Error(t, err, text)
	}
}

func TestPackageSourcesMayHaveAVersion(t *testing.T) {
	for text, want := range map[string][2]string{
		"github.com/org/repo":                  {"git://github.com/org/repo", ""},
		"github.com/org/repo/a/b@v1.2.3":       {"git://github.com/org/repo/a/b", "1.2.3"},
		"https://github.com/org/repo@1.0":      {"git://github.com/org/repo", "1.0.0"},
		"git://github.com/org/repo@0123abcdef": {"git://github.com/org/repo", "0.0.0-x0123abcdef"},
		"git://github.com/org/repo@12345678":   {"git://github.com/org/repo", "0.0.0-x12345678"},
		"https://u:p@github.com/org/repo":      {"git://u:p@github.com/org/repo", ""},
	} {
		url, version, err := plugin.ParsePackageSource(text)
		require.NoError(t, err, text)
		require.Equal(t, want, [2]string{url, version}, text)
	}
	for _, name := range []string{"aws", "aws@7.0.0", "./github.com/a/b", "../x", "/abs.dir/x", "libs/tools", "a/b.c/d"} {
		_, _, err := plugin.ParsePackageSource(name)
		require.ErrorIs(t, err, plugin.ErrNoGitSource, name)
	}
	_, _, err := plugin.ParsePackageSource("github.com/org/repo@main")
	require.EqualError(t, err, `github.com/org/repo@main: "main" is neither a version, such as 1.2.3, nor the hash of a commit`)
	_, _, err = plugin.ParsePackageSource("github.com/org")
	require.ErrorContains(t, err, "names no repository")
}

func TestAPluginFromAFolderOfARepositoryIsFoundThere(t *testing.T) {
	home := t.TempDir()
	for _, folder := range []string{
		"plugins/resource-github.com_o_r.git-v1.0.0/a_b/c", "plugins/resource-github.com_o_r.git_a_b_c-v1.0.0/a/b_c",
		"plugins/resource-github.com_o_r.git_a_b_c-v1.0.0/a_b/c", "plugins/resource-github.com_o_r.git_x-v0.0.0-xabcd/x",
	} {
		require.NoError(t, os.MkdirAll(filepath.Join(home, folder), 0o755))
	}
	for _, file := range []string{"plugins/resource-github.com_o_r.git_a_b_c-v1.0.0/a_b/c", "plugins/resource-github.com_o_r.git_x-v0.0.0-xabcd/x"} {
		require.NoError(t, os.WriteFile(filepath.Join(home, file, plugin.PluginManifest), []byte("runtime: yaml\n"), 0o644))
	}
	f := plugin.Finder{Home: home, LookupEnv: func(string) (string, bool) { return "", false }}
	var hosted *plugin.LanguageHostedError
	_, err := f.Find(plugin.Resource, "github.com_o_r.git_a_b_c", "1.0.0")
	require.ErrorAs(t, err, &hosted)
	require.Equal(t, filepath.Join(home, "plugins/resource-github.com_o_r.git_a_b_c-v1.0.0/a_b/c"), hosted.Directory)
	_, err = f.Find(plugin.Resource, "github.com_o_r.git_x", "0.0.0-xabcd")
	require.ErrorAs(t, err, &hosted)
	_, err = f.Find(plugin.Resource, "github.com_o_r.git", "1.0.0")
	require.NotErrorAs(t, err, &hosted)
	require.Len(t, f.List(), 2)
}

func TestTheProjectSaysWhereAPackageComesFrom(t *testing.T) {
	f := plugin.Finder{Project: []plugin.ProjectPlugin{{Kind: plugin.Resource, Name: "shop", Version: "1.0.0", DownloadURL: "git://github.com/o/r"}}}
	for name, c := range map[string]struct{ given, want providers.Spec }{
		"another package":   {providers.Spec{Package: "other"}, providers.Spec{Package: "other"}},
		"no place":          {providers.Spec{Package: "shop", Version: "7.0.0"}, providers.Spec{Package: "shop", Version: "1.0.0", DownloadURL: "git://github.com/o/r"}},
		"that of a program": {providers.Spec{Package: "shop", DownloadURL: "https://x"}, providers.Spec{Package: "shop", DownloadURL: "https://x"}},
		"that of a state":   {providers.Spec{Package: "shop", DownloadURL: "https://x", Recorded: true}, providers.Spec{Package: "shop", Version: "1.0.0", DownloadURL: "git://github.com/o/r"}},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, c.want, f.Complete(c.given)) })
	}
	_, err := f.Find(plugin.Resource, "shop", "")
	require.ErrorAs(t, err, new(*plugin.MissingError))
}
