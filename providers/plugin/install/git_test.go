package install

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/providers/plugin"
)

// gitHost is a replacement for github.com: a folder of repositories, which the command git finds at its URLs.
type gitHost struct {
	t      *testing.T
	folder string
}

func newGitHost(t *testing.T) *gitHost {
	if _, err := exec.LookPath("git"); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skip("git is not on the PATH")
	}
	h := &gitHost{t, t.TempDir()}
	for name, value := range map[string]string{
		"GIT_CONFIG_GLOBAL": os.DevNull, "GIT_CONFIG_SYSTEM": os.DevNull, "GIT_CONFIG_COUNT": "1",
		"GIT_CONFIG_KEY_0": "url.file://" + h.folder + "/.insteadOf", "GIT_CONFIG_VALUE_0": "https://github.com/",
		"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b",
	} {
		t.Setenv(name, value)
	}
	return h
}

// commit writes files to a repository and commits them. It returns the hash.
func (h *gitHost) commit(repository string, files map[string]string, tags ...string) string {
	h.t.Helper()
	directory := filepath.Join(h.folder, repository)
	git := func(args ...string) string {
		cmd := exec.Command("git", args...)
		cmd.Dir = directory
		out, err := cmd.CombinedOutput()
		require.NoError(h.t, err, "%v: %s", args, out)
		return strings.TrimSpace(string(out))
	}
	require.NoError(h.t, os.MkdirAll(directory, 0o755))
	git("init", "--quiet")
	for name, text := range files {
		file := filepath.Join(directory, name)
		require.NoError(h.t, os.MkdirAll(filepath.Dir(file), 0o755))
		if to, is := strings.CutPrefix(text, "-> "); is {
			require.NoError(h.t, os.Symlink(to, file))
			continue
		}
		require.NoError(h.t, os.WriteFile(file, []byte(text), 0o644))
	}
	git("add", "--all")
	git("commit", "--quiet", "--message", "x")
	for _, tag := range tags {
		git("tag", tag)
	}
	return git("rev-parse", "HEAD")
}

// text returns the file "text" of an installed plugin.
func installedText(t *testing.T, p Installed) string {
	t.Helper()
	folder, is := plugin.SourceFolder(p.Directory, p.Kind, p.Name)
	require.True(t, is)
	text, err := os.ReadFile(filepath.Join(folder, "text"))
	require.NoError(t, err)
	return string(text)
}

func TestPluginsComeFromGitRepositories(t *testing.T) {
	h := newGitHost(t)
	manifest := "runtime: yaml\n"
	first := h.commit("o/r.git", map[string]string{"PulumiPlugin.yaml": manifest, "text": "first", "sub/x/PulumiPlugin.yaml": manifest, "sub/x/text": "sub"}, "v1.0.0", "v1.0.1-beta", "other")
	h.commit("o/r.git", map[string]string{"text": "second"}, "v1.9.0")
	h.commit("o/r.git", map[string]string{"text": "third"}, "v1.10.0", "v2.0.0-rc.1", first[:7]) // a tag that looks like a commit
	last := h.commit("o/r.git", map[string]string{"text": "last"})
	untagged := h.commit("o/untagged.git", map[string]string{"PulumiPlugin.yaml": manifest, "text": "untagged"})

	for name, c := range map[string]struct{ url, version, want, text, directory string }{
		"a tag":              {"git://github.com/o/r", "v1.0.0", "1.0.0", "first", "github.com_o_r.git"},
		"a folder":           {"git://github.com/o/r/sub/x", "1.0.0", "1.0.0", "sub", "github.com_o_r.git_sub_x"},
		"the latest":         {"git://github.com/o/r", "", "1.10.0", "third", "github.com_o_r.git"},
		"a commit":           {"git://github.com/o/r", "0.0.0-x" + first, "0.0.0-x" + first, "first", "github.com_o_r.git"},
		"a commit's start":   {"git://github.com/o/r.git", "0.0.0-x" + last[:8], "0.0.0-x" + last[:8], "last", "github.com_o_r.git"},
		"the default branch": {"git://github.com/o/r", "0.0.0", "0.0.0", "last", "github.com_o_r.git"},
		"without tags":       {"git://github.com/o/untagged", "", "0.0.0-x" + untagged, "untagged", "github.com_o_untagged.git"},
	} {
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			i := New(Options{Home: home})
			got, err := i.Install(t.Context(), Request{Kind: plugin.Resource, Name: "ignored", Version: c.version, Source: c.url})
			require.NoError(t, err)
			require.Equal(t, c.want, got.Version)
			require.Equal(t, filepath.Join(home, "plugins", "resource-"+c.directory+"-v"+c.want), got.Directory)
			require.Equal(t, c.text, installedText(t, got))
			require.NoDirExists(t, filepath.Join(got.Directory, ".git"))
			_, err = plugin.Finder{Home: home}.Find(plugin.Resource, c.directory, c.want)
			require.ErrorAs(t, err, new(*plugin.LanguageHostedError))
		})
	}

	for name, c := range map[string]struct{ url, version, says string }{
		"no such tag":        {"git://github.com/o/r", "9.9.9", "https://github.com/o/r.git: the repository has no tag v9.9.9"},
		"no such commit":     {"git://github.com/o/r", "0.0.0-xffffffff", "the repository has no commit ffffffff"},
		"a tag like a hash":  {"git://github.com/o/r", "0.0.0-x" + first[:7], "the repository has no commit " + first[:7]},
		"no hash":            {"git://github.com/o/r", "0.0.0-xupload", `"upload" is not the hash of a commit`},
		"no such folder":     {"git://github.com/o/r/nothing", "1.0.0", "there is no PulumiPlugin.yaml in the repository's folder nothing"},
		"no such repository": {"git://me:secret@github.com/o/none", "1.0.0", "github.com/o/none.git"},
		"no repository":      {"git://github.com/o", "1.0.0", "names no repository"},
	} {
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			_, err := New(Options{Home: home}).Install(t.Context(), Request{Kind: plugin.Resource, Name: "x", Version: c.version, Source: c.url})
			require.ErrorContains(t, err, c.says)
			require.NotContains(t, err.Error(), "secret")
			entries, _ := filepath.Glob(home + "/plugins/*")
			for _, e := range entries {
				require.Equal(t, ".lock", filepath.Ext(e))
			}
		})
	}
}

func TestARepositoryWithLinksThatLeadOutIsRefused(t *testing.T) {
	h, home := newGitHost(t), t.TempDir()
	h.commit("o/r.git", map[string]string{"PulumiPlugin.yaml": "runtime: yaml\n", "inside": "-> PulumiPlugin.yaml"}, "v1.0.0")
	h.commit("o/r.git", map[string]string{"sub/outside": "-> ../../../.."}, "v2.0.0")
	i := New(Options{Home: home})
	_, err := i.Install(t.Context(), Request{Kind: plugin.Resource, Name: "x", Version: "1.0.0", Source: "git://github.com/o/r"})
	require.NoError(t, err)
	_, err = i.Install(t.Context(), Request{Kind: plugin.Resource, Name: "x", Version: "2.0.0", Source: "git://github.com/o/r"})
	require.ErrorContains(t, err, `its entry "sub/outside" is a link that leads out of the plugin's folder`)
}

func TestHooksOfTheUserAreNotRunInRepositories(t *testing.T) {
	h, home := newGitHost(t), t.TempDir()
	h.commit("o/r.git", map[string]string{"PulumiPlugin.yaml": "runtime: yaml\n"}, "v1.0.0")
	hooks, ran := t.TempDir(), filepath.Join(home, "ran")
	require.NoError(t, os.WriteFile(filepath.Join(hooks, "post-checkout"), []byte("#!/bin/sh\ntouch "+ran+"\n"), 0o755))
	t.Setenv("GIT_CONFIG_COUNT", "2")
	t.Setenv("GIT_CONFIG_KEY_1", "core.hooksPath")
	t.Setenv("GIT_CONFIG_VALUE_1", hooks)
	t.Setenv("GIT_DIR", "/nowhere") // as in a hook
	_, err := New(Options{Home: home}).Install(t.Context(), Request{Kind: plugin.Resource, Name: "x", Version: "1.0.0", Source: "git://github.com/o/r"})
	require.NoError(t, err)
	require.NoFileExists(t, ran)
}

func TestWhatOnlyTheStateNamesIsNotTakenFromGit(t *testing.T) {
	h, home := newGitHost(t), t.TempDir()
	h.commit("o/r.git", map[string]string{"PulumiPlugin.yaml": "runtime: yaml\n", "text": "x"}, "v1.0.0")
	env := map[string]string{}
	i := New(Options{Home: home, LookupEnv: func(name string) (string, bool) { v, ok := env[name]; return v, ok }})
	w := plugin.Wanted{Kind: plugin.Resource, Name: "github.com_o_r.git", Version: "1.0.0", DownloadURL: "git://github.com/o/r", Recorded: true}
	require.ErrorIs(t, i.Acquire(Messages{})(t.Context(), w), plugin.ErrNotAcquired)
	env[overridesVariable] = "^https://gitlab.com/=https://own.example"
	require.ErrorIs(t, i.Acquire(Messages{})(t.Context(), w), plugin.ErrNotAcquired)
	_, err := plugin.Finder{Home: home}.Find(w.Kind, w.Name, w.Version)
	require.ErrorAs(t, err, new(*plugin.MissingError))
	w.Recorded = false
	require.NoError(t, i.Acquire(Messages{})(t.Context(), w))
}

func TestWithoutGitItIsSaidWhatIsMissing(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := New(Options{Home: t.TempDir()}).Install(t.Context(), Request{Kind: plugin.Resource, Name: "x", Source: "git://github.com/o/r"})
	require.ErrorContains(t, err, "the command git was not found on your $PATH; install it")
}

func TestTokensOfGitHostsAreForTheseHosts(t *testing.T) {
	env := map[string]string{"GITHUB_TOKEN": "t", "GIT_CONFIG_COUNT": "3"}
	i := New(Options{LookupEnv: func(name string) (string, bool) { v, ok := env[name]; return v, ok }})
	token := func(url string) []string {
		g, err := plugin.ParseGitSource(url)
		require.NoError(t, err)
		return (&repository{g, i.env}).token()
	}
	require.Equal(t, []string{
		"GIT_CONFIG_COUNT=4", "GIT_CONFIG_KEY_3=http.https://github.com/.extraHeader",
		"GIT_CONFIG_VALUE_3=Authorization: Basic eC1hY2Nlc3MtdG9rZW46dA==",
	}, token("git://github.com/o/r"))
	for _, url := range []string{"git://github.com.evil.example/o/r", "git://gitlab.com/o/r", "git://u:p@github.com/o/r"} {
		require.Nil(t, token(url), url)
	}
}
