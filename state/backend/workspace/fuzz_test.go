package workspace

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/testing/fuzzing"
)

// FuzzCredentials uses any bytes as the credentials file. A login can be read back and keeps the rest of the file, or the error
// names the file and nothing changes.
func FuzzCredentials(f *testing.F) {
	for _, s := range []string{
		"", "null", "{}", "[]", `{"current":"file://~","accessTokens":{"file://~":""},"accounts":null,"other":[1]}`,
		`{"current":1,"accessTokens":"x"}`, `{"ciphertext":"x"}`, `{"CURRENT":"x"}`,
	} {
		f.Add([]byte(s))
	}
	dir := f.TempDir()
	path := filepath.Join(dir, "credentials.json")
	c := NewCredentials(dir, func(string) (string, bool) { return "", false })
	f.Fuzz(func(t *testing.T, data []byte) {
		require.NoError(t, os.WriteFile(path, data, 0o600))
		var err error
		fuzzing.Bound(t, len(data), 100, func() { _, err = c.Current() })
		loginErr := c.Login("s3://bucket")
		after, readErr := os.ReadFile(path)
		require.NoError(t, readErr)
		if err != nil {
			require.ErrorContains(t, err, path)
			require.EqualError(t, loginErr, err.Error())
			require.Equal(t, string(data), string(after))
			return
		}
		require.NoError(t, loginErr)
		current, err := c.Current()
		require.NoError(t, err)
		require.Equal(t, "s3://bucket", current)
		var was, is map[string]any
		require.NoError(t, json.Unmarshal(data, &was))
		require.NoError(t, json.Unmarshal(after, &is))
		for name, v := range was {
			if name != "current" && name != "accessTokens" && name != "accounts" {
				require.Equal(t, v, is[name], name)
			}
		}
	})
}
