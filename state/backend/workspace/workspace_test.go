package workspace

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func environment(vars map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) { v, ok := vars[name]; return v, ok }
}

func TestSelectionIsKeptPerBackend(t *testing.T) {
	home := t.TempDir()
	s := NewSelection(home, "shop", "/src/Pulumi.yaml", "file://~")
	other := NewSelection(home, "shop", "/src/Pulumi.yaml", "file:///other")
	path := filepath.Join(home, "workspaces", "shop-174528040e660d1c951744d7aa1aed97d0193c49-workspace.json")

	name, err := s.Stack()
	require.NoError(t, err)
	require.Empty(t, name)
	require.NoError(t, s.Select("organization/shop/dev"))
	require.NoError(t, other.Select("organization/shop/prod"))
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "{\n    \"stacks\": {\n        \"file:///other\": \"organization/shop/prod\",\n        \"file://~\": \"organization/shop/dev\"\n    }\n}", string(b))
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())

	require.NoError(t, s.Clear())
	name, err = other.Stack()
	require.NoError(t, err)
	require.Equal(t, "organization/shop/prod", name)
	require.NoError(t, other.Clear())
	require.NoFileExists(t, path)
	require.NoError(t, other.Clear())
}

func TestSelectionKeepsWhatPulumiWrote(t *testing.T) {
	s := NewSelection(t.TempDir(), "p", "/x", "file://~")
	require.NoError(t, replace(s.path, []byte(`{"stack":"old","future":{"a":1}}`)))
	name, err := s.Stack()
	require.NoError(t, err)
	require.Equal(t, "old", name)
	require.NoError(t, s.Select("organization/p/new"))
	b, err := os.ReadFile(s.path)
	require.NoError(t, err)
	require.JSONEq(t, `{"stack":"old","future":{"a":1},"stacks":{"file://~":"organization/p/new"}}`, string(b))
	require.NoError(t, s.Clear())
	b, err = os.ReadFile(s.path)
	require.NoError(t, err)
	require.JSONEq(t, `{"future":{"a":1}}`, string(b))
}

func TestAProjectHasOneSelectionWhateverLinksLeadToIt(t *testing.T) {
	home, src := t.TempDir(), t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(src, "Pulumi.yaml"), nil, 0o600))
	link := filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Symlink(src, link))
	direct := NewSelection(home, "p", filepath.Join(src, "Pulumi.yaml"), "file://~")
	through := NewSelection(home, "p", filepath.Join(link, "Pulumi.yaml"), "file://~")
	requireStack := func(s Selection, want string) {
		t.Helper()
		name, err := s.Stack()
		require.NoError(t, err)
		require.Equal(t, want, name)
	}

	// What was selected before through the link counts until something else is selected.
	old := Selection{path: through.unresolved, backend: "file://~"}
	require.NoError(t, old.Select("organization/p/old"))
	requireStack(through, "organization/p/old")
	requireStack(direct, "")

	require.NoError(t, through.Select("organization/p/dev"))
	requireStack(direct, "organization/p/dev")
	require.NoFileExists(t, old.path)
	require.NoError(t, direct.Select("organization/p/prod"))
	requireStack(through, "organization/p/prod")
	require.NoError(t, through.Clear())
	requireStack(direct, "")
}

func TestBackendComesFromTheFirstThatNamesOne(t *testing.T) {
	none := environment(nil)
	c := NewCredentials(t.TempDir(), none)
	_, _, err := c.BackendURL(none, "")
	require.ErrorIs(t, err, ErrNoBackend)
	require.NoError(t, c.Login("file://~"))
	for want, project := range map[string]string{"file://~": "", "file:///project": "file:///project"} {
		got, _, err := c.BackendURL(none, project)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	got, _, err := c.BackendURL(environment(map[string]string{"PULUMI_BACKEND_URL": "file:///env"}), "file:///project")
	require.NoError(t, err)
	require.Equal(t, "file:///env", got)
}

func TestLoginAndLogoutKeepOtherAccounts(t *testing.T) {
	dir := t.TempDir()
	c := NewCredentials("unused", environment(map[string]string{"PULUMI_CREDENTIALS_PATH": dir}))
	require.NoError(t, c.Login("file://~"))
	b, err := os.ReadFile(filepath.Join(dir, "credentials.json"))
	require.NoError(t, err)
	require.JSONEq(t, `{"current":"file://~","accessTokens":{"file://~":""},"accounts":{"file://~":{"lastValidatedAt":"0001-01-01T00:00:00Z"}}}`, string(b))
	require.NoError(t, c.Login("file:///b"))
	require.NoError(t, c.Logout("file://~"))
	b, err = os.ReadFile(filepath.Join(dir, "credentials.json"))
	require.NoError(t, err)
	require.JSONEq(t, `{"current":"file:///b","accessTokens":{"file:///b":""},"accounts":{"file:///b":{"lastValidatedAt":"0001-01-01T00:00:00Z"}}}`, string(b))
	require.NoError(t, c.Logout("file:///b"))
	require.NoFileExists(t, filepath.Join(dir, "credentials.json"))
}

func TestCredentialsMayBeElsewhere(t *testing.T) {
	dir, real := t.TempDir(), filepath.Join(t.TempDir(), "of all machines.json")
	link := filepath.Join(dir, "credentials.json")
	if err := os.Symlink(real, link); err != nil {
		t.Skip(err)
	}
	c := NewCredentials("unused", environment(map[string]string{"PULUMI_CREDENTIALS_PATH": dir}))
	for _, url := range []string{"file://~", "file:///b"} {
		require.NoError(t, c.Login(url))
		b, err := os.ReadFile(real)
		require.NoError(t, err)
		require.Contains(t, string(b), url)
		to, err := os.Readlink(link)
		require.NoError(t, err)
		require.Equal(t, real, to)
	}
}

func TestEncryptedCredentialsAreLeftAlone(t *testing.T) {
	c := NewCredentials(t.TempDir(), environment(nil))
	require.NoError(t, replace(c.path, []byte(`{"version":1,"ciphertext":"x"}`)))
	require.ErrorIs(t, c.Login("file://~"), ErrEncrypted)
	require.ErrorIs(t, c.Logout("file://~"), ErrEncrypted)
	b, err := os.ReadFile(c.path)
	require.NoError(t, err)
	require.Equal(t, `{"version":1,"ciphertext":"x"}`, string(b))
}

func TestHome(t *testing.T) {
	dir, err := Home(environment(map[string]string{"PULUMI_HOME": "/h"}))
	require.NoError(t, err)
	require.Equal(t, "/h", dir)
	dir, err = Home(environment(nil))
	require.NoError(t, err)
	require.Equal(t, ".pulumi", filepath.Base(dir))
}
