package session

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
	stateworkspace "github.com/sluice-iac/sluice/state/backend/workspace"
	"github.com/sluice-iac/sluice/state/secrets"
)

func TestTheCredentialsOfACommandAreKnown(t *testing.T) {
	home := t.TempDir()
	env := map[string]string{
		"GITHUB_TOKEN": "token-1", "GITLAB_TOKEN": "token-2", "GOOGLE_OAUTH_ACCESS_TOKEN": "token-3", "VAULT_TOKEN": "token-4",
		"GOOGLE_CREDENTIALS": `{"type": "service_account", "private_key": "key-5"}`,
	}
	lookup := func(name string) (string, bool) { v, set := env[name]; return v, set }
	const url = "https://service.example"
	require.NoError(t, stateworkspace.NewCredentials(home, lookup).LoginToService(url, stateworkspace.Account{AccessToken: "token-6"}))
	s := &Session{Home: home, BackendURL: url, Passphrases: secrets.FixedSource("x"), Terminal: &terminal.Terminal{Lookup: lookup}}
	known := s.Credentials()
	for _, want := range []string{"token-1", "token-2", "token-3", "token-4", env["GOOGLE_CREDENTIALS"], "key-5", "token-6"} {
		require.Contains(t, known, want)
	}
}
