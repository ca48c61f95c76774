package cloud

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	statesecrets "github.com/sluice-iac/sluice/state/secrets"
)

// vault is an HTTP server with the part of Vault's transit engine that a key needs. Its ciphertexts contain the plain
// text.
type vault struct {
	*httptest.Server
	asked   atomic.Int32
	refuses atomic.Bool
}

// theVault lives as long as the process: the library's client lives as long, and reads its environment variables only
// once.
var theVault = sync.OnceValue(func() *vault {
	v := &vault{}
	v.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in map[string]string
		_ = json.NewDecoder(r.Body).Decode(&in) // a missing key reads as an empty string
		out := map[string]string{}
		switch {
		case r.Header.Get("X-Vault-Token") != "token" || v.refuses.Load():
			w.WriteHeader(http.StatusForbidden)
			return
		case strings.HasSuffix(r.URL.Path, "/transit/encrypt/states"):
			out["ciphertext"] = "vault:v1:" + in["plaintext"]
		case strings.HasSuffix(r.URL.Path, "/transit/decrypt/states"):
			v.asked.Add(1)
			out["plaintext"] = strings.TrimPrefix(in["ciphertext"], "vault:v1:")
		default:
			w.WriteHeader(http.StatusNotFound)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{"data": out})
	}))
	return v
})

func TestSecretsAreEncryptedWithAKeyOfAKeyService(t *testing.T) {
	ctx := context.Background()
	v := theVault()
	v.asked.Store(0)
	v.refuses.Store(false)
	t.Setenv("VAULT_ADDR", v.URL)
	t.Setenv("VAULT_TOKEN", "token")
	t.Setenv("VAULT_SERVER_URL", v.URL)
	t.Setenv("VAULT_SERVER_TOKEN", "token")
	from := statesecrets.FixedSource("unused").WithKeepers(Keepers())
	m, settings, err := statesecrets.NewManager(ctx, "hashivault://states", from)
	require.NoError(t, err)
	require.Equal(t, "hashivault://states", settings.Provider)
	require.EqualValues(t, 1, v.asked.Swap(0), "a new data key is decrypted before it is used")
	sealed, err := m.Encrypter().Encrypt(ctx, "hunter2")
	require.NoError(t, err)

	again, err := statesecrets.FromState(ctx, m.Provider(), from)
	require.NoError(t, err)
	require.Zero(t, v.asked.Load(), "nobody is asked before a secret needs the key")
	for range 3 {
		text, err := again.Decrypter().Decrypt(ctx, sealed)
		require.NoError(t, err)
		require.Equal(t, "hunter2", text)
	}
	require.EqualValues(t, 1, v.asked.Load(), "the data key is decrypted once")

	v.refuses.Store(true)
	refused, err := statesecrets.FromState(ctx, m.Provider(), from)
	require.NoError(t, err)
	_, err = refused.Decrypter().Decrypt(ctx, sealed)
	require.ErrorContains(t, err, "the secrets provider hashivault://states")
}
