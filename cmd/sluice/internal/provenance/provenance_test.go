package provenance

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAddressesOfRepositories(t *testing.T) {
	for address, want := range map[string][3]string{
		"https://github.com/acme/shop.git":                {"acme", "shop", "github.com"},
		"https://user:p4ss@github.com/acme/shop":          {"acme", "shop", "github.com"},
		"git@github.com:acme/shop.git":                    {"acme", "shop", "github.com"},
		"ssh://git@git.example.com:2222/acme/shop.git":    {"acme", "shop", "git.example.com"},
		"git@gitlab.com:acme/group/shop.git":              {"acme", "group/shop", "gitlab.com"},
		"https://dev.azure.com/acme/project/_git/shop":    {"acme", "project/_git/shop", "dev.azure.com"},
		"git@ssh.dev.azure.com:v3/acme/project/shop":      {"acme", "project/_git/shop", "dev.azure.com"},
		"https://acme.visualstudio.com/project/_git/shop": {"acme", "project/_git/shop", "dev.azure.com"},
		"/srv/git/shop.git":                               {},
		"file:///srv/git/acme/shop.git":                   {},
		"https://git.example.com/shop.git":                {},
		"":                                                {},
	} {
		owner, name, kind, is := hosted(address)
		if want[0] == "" {
			require.False(t, is, address)
			continue
		}
		require.True(t, is, address)
		require.Equal(t, want, [3]string{owner, name, kind}, address)
	}
}

func lookup(env map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) { text, set := env[name]; return text, set }
}

func TestACommitIsDescribed(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git")
	}
	root := t.TempDir()
	directory := filepath.Join(root, "infra", "shop")
	require.NoError(t, os.MkdirAll(directory, 0o755))
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-c", "user.name=Ann Author", "-c", "user.email=ann@example.com"}, args...)...)
		cmd.Dir = root
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_COMMITTER_NAME=Carl Committer", "GIT_COMMITTER_EMAIL=carl@example.com")
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
	git("init", "-q", "-b", "trunk")
	none, title := Of(t.Context(), directory, lookup(nil))
	require.Empty(t, none)
	require.Empty(t, title)

	require.NoError(t, os.WriteFile(filepath.Join(directory, "Pulumi.yaml"), []byte("name: shop\n"), 0o644))
	git("add", ".")
	git("commit", "-q", "-m", "Sell things\n\nand more")
	git("remote", "add", "origin", "https://user:p4ssword@github.com/acme/shop.git")
	got, title := Of(t.Context(), directory, lookup(nil))
	require.Equal(t, "Sell things", title)
	require.Len(t, got["git.head"], 40)
	delete(got, "git.head")
	require.Equal(t, map[string]string{
		"git.headName": "refs/heads/trunk", "git.dirty": "false", "git.committer": "Carl Committer", "git.committer.email": "carl@example.com",
		"git.author": "Ann Author", "git.author.email": "ann@example.com", "vcs.owner": "acme", "vcs.repo": "shop", "vcs.kind": "github.com",
		"vcs.root": "infra/shop",
	}, got)

	require.NoError(t, os.WriteFile(filepath.Join(directory, "new.txt"), nil, 0o644))
	git("checkout", "-q", "--detach")
	got, _ = Of(t.Context(), directory, lookup(map[string]string{"GITLAB_CI": "true", "CI_COMMIT_REF_NAME": "feature", "CI_PIPELINE_ID": "7", "CI_MERGE_REQUEST_IID": "12"}))
	require.Equal(t, "true", got["git.dirty"])
	require.Equal(t, "feature", got["git.headName"])
	require.Equal(t, "GitLab CI/CD", got["ci.system"])
	require.Equal(t, "7", got["ci.build.id"])
	require.Equal(t, "12", got["ci.pr.number"])
}

// hgAnswers is a fake Mercurial with one commit. It answers only if it is called without the configuration of the
// repository.
const hgAnswers = `#!/bin/sh
test "$HGPLAIN$HGRCSKIPREPO" = 11 || exit 3
case $1 in
status) cat "$PWD/changes" ;;
log) test "$*" = 'log -r . --template {node}\x1f{branch}\x1f{author}\x1f{desc}' && printf '%s\037%s\037%s\037%s' 1234567890123456789012345678901234567890 stable 'Ann Author <ann@example.com>' 'Sell things
and more' ;;
*) exit 4 ;;
esac
`

func TestACommitOfMercurialIsDescribed(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the Mercurial of the test is a script of a shell")
	}
	bin, root := t.TempDir(), t.TempDir()
	directory := filepath.Join(root, "infra")
	require.NoError(t, os.MkdirAll(directory, 0o755))
	require.NoError(t, os.MkdirAll(filepath.Join(root, ".hg"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(root, ".hg", "hgrc"), []byte("[ui]\ndefault = x\n[paths]\n# comment\ndefault = ssh://hg@bitbucket.org/acme/shop\n"), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(root, "changes"), nil, 0o644))
	t.Setenv("PATH", bin)
	got, title := Of(t.Context(), directory, lookup(map[string]string{"PULUMI_GIT_HEAD": "given"}))
	require.Equal(t, map[string]string{"git.head": "given"}, got, "there is no Mercurial")
	require.Empty(t, title)

	require.NoError(t, os.WriteFile(filepath.Join(bin, "hg"), []byte(hgAnswers), 0o755))
	t.Setenv("PATH", bin+":/usr/bin:/bin")
	got, title = Of(t.Context(), directory, lookup(map[string]string{"PULUMI_GIT_HEAD": "given"}))
	require.Equal(t, "Sell things", title)
	require.Equal(t, map[string]string{
		"git.head": "1234567890123456789012345678901234567890", "git.headName": "stable", "git.dirty": "false", "git.author": "Ann Author",
		"git.author.email": "ann@example.com", "vcs.owner": "acme", "vcs.repo": "shop", "vcs.kind": "bitbucket.org", "vcs.root": "infra",
	}, got)
	require.NoError(t, os.WriteFile(filepath.Join(root, "changes"), []byte("? new"), 0o644))
	got, _ = Of(t.Context(), directory, lookup(map[string]string{"GITLAB_CI": "true", "CI_COMMIT_REF_NAME": "feature"}))
	require.Equal(t, "true", got["git.dirty"])
	require.Equal(t, "feature", got["git.headName"])
}

func TestJobsAreDescribed(t *testing.T) {
	event := filepath.Join(t.TempDir(), "event.json")
	require.NoError(t, os.WriteFile(event, []byte(`{"number": 31, "pull_request": {"head": {"sha": "abc", "ref": "mine"}}}`), 0o644))
	for name, c := range map[string]struct{ env, want map[string]string }{
		"none": {nil, map[string]string{}},
		"github": {
			map[string]string{
				"GITHUB_ACTIONS": "true", "GITHUB_RUN_ID": "99", "GITHUB_RUN_NUMBER": "5", "GITHUB_EVENT_NAME": "pull_request",
				"GITHUB_REPOSITORY": "acme/shop", "GITHUB_SHA": "merge", "GITHUB_EVENT_PATH": event,
			},
			map[string]string{
				"ci.system": "GitHub Actions", "ci.build.id": "99", "ci.build.number": "5", "ci.build.type": "pull_request",
				"ci.build.url": "https://github.com/acme/shop/actions/runs/99", "ci.pr.headSHA": "abc", "ci.pr.number": "31", "git.headName": "mine",
			},
		},
		"own": {
			map[string]string{"PULUMI_CI_SYSTEM": "ours", "PULUMI_CI_BUILD_ID": "1", "PULUMI_GIT_HEAD": "def", "GITHUB_ACTIONS": "true"},
			map[string]string{"ci.system": "ours", "ci.build.id": "1", "git.head": "def"},
		},
		"switched off":  {map[string]string{"GITHUB_ACTIONS": "true", "PULUMI_DISABLE_CI_DETECTION": "1"}, map[string]string{}},
		"only its name": {map[string]string{"TEAMCITY_VERSION": "2026"}, map[string]string{"ci.system": "TeamCity"}},
	} {
		t.Run(name, func(t *testing.T) {
			got, _ := Of(t.Context(), t.TempDir(), lookup(c.env))
			require.Equal(t, c.want, got)
		})
	}
}
