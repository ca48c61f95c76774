package workspace

import (
	"bytes"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/internal/platform/keystore"
)

// heldKey is a key in a store. With err, there is no store.
type heldKey struct {
	key []byte // nil if there is none
	err error
}

func (k *heldKey) Get() ([]byte, error) {
	if k.err == nil && k.key == nil {
		return nil, os.ErrNotExist
	}
	return k.key, k.err
}

func (k *heldKey) Ensure() ([]byte, error) {
	if k.err == nil && k.key == nil {
		k.key = bytes.Repeat([]byte{7}, keystore.KeySize)
	}
	return k.key, k.err
}

func (k *heldKey) Delete() error {
	k.key = nil
	return k.err
}

// sealedByPulumi is a file of Pulumi 3.274.1, encrypted with a key of 32 times the byte 7.
const sealedByPulumi = `{
    "$pulumiSecureStore": 1,
    "backend": "linux-secretservice",
    "algo": "aes-256-gcm",
    "nonce": "i3L1cDBIjISm29ks",
    "data": "iLvwK2obRQPW4W8zZ9pd4kcXV186vs/kjkU//mlOvvrwqCruqlt2nUoWTX0MhDGK+OR1tOzvC/NIFsv9HbmtxYmmPGVc+XoY9brZ6LmfmlQogAeo3g=="
}`

// sealed returns credentials whose key is in a store of Linux.
func sealed(t *testing.T, mode string, k *heldKey) Credentials {
	t.Helper()
	c := NewCredentials(t.TempDir(), environment(map[string]string{EnvCredentialStore: mode}))
	c.sealing.store, c.sealing.keys = "linux-secretservice", k
	return c
}

func content(t *testing.T, c Credentials) string {
	t.Helper()
	text, err := os.ReadFile(c.path)
	require.NoError(t, err)
	return string(text)
}

func TestCredentialsAreSealedOnRequest(t *testing.T) {
	for mode, want := range map[string]bool{"": false, "plaintext": false, "auto": true, "os": true, " OS ": true} {
		t.Run(mode, func(t *testing.T) {
			c := sealed(t, mode, &heldKey{})
			require.NoError(t, c.LoginToService("https://x", Account{AccessToken: "pul-token"}))
			require.Equal(t, want, envelopeOf([]byte(content(t, c))) != nil)
			require.Equal(t, !want, bytes.Contains([]byte(content(t, c)), []byte("pul-token")))
			a, err := c.Account("https://x")
			require.NoError(t, err)
			require.Equal(t, "pul-token", a.AccessToken)
		})
	}
	_, err := sealed(t, "vault", &heldKey{}).Current()
	require.ErrorContains(t, err, "PULUMI_CREDENTIAL_STORE=vault: it must be auto, os or plaintext")
}

func TestSealedCredentialsStaySealed(t *testing.T) {
	k := &heldKey{}
	c := sealed(t, "os", k)
	require.NoError(t, c.Login("file:///a"))
	c.sealing.mode = ""
	require.NoError(t, c.Login("file:///b"))
	require.NotNil(t, envelopeOf([]byte(content(t, c))))
	before := content(t, c)
	k.err = keystore.ErrUnavailable
	require.ErrorIs(t, c.Login("file:///c"), ErrEncrypted)
	require.Equal(t, before, content(t, c))
	k.err, c.sealing.mode = nil, "plaintext"
	require.NoError(t, c.Login("file:///c"))
	require.Nil(t, envelopeOf([]byte(content(t, c))))
	urls, err := c.URLs()
	require.NoError(t, err)
	require.Equal(t, []string{"file:///a", "file:///b", "file:///c"}, urls)
}

func TestPulumisSealedCredentialsAreRead(t *testing.T) {
	k := &heldKey{key: bytes.Repeat([]byte{7}, keystore.KeySize)}
	c := sealed(t, "", k)
	require.NoError(t, replace(c.path, []byte(sealedByPulumi)))
	current, err := c.Current()
	require.NoError(t, err)
	require.Equal(t, "file:///states", current)

	for name, spoil := range map[string]func(){
		"another key":   func() { k.key = bytes.Repeat([]byte{8}, keystore.KeySize) },
		"no key":        func() { k.key = nil },
		"another store": func() { c.sealing.store = "windows-credman" },
		"a changed file": func() {
			require.NoError(t, replace(c.path, bytes.Replace([]byte(sealedByPulumi), []byte("iLvw"), []byte("jLvw"), 1)))
		},
		"a newer version": func() { require.NoError(t, replace(c.path, []byte(`{"$pulumiSecureStore": 2, "data": {}}`))) },
		"an unknown cipher": func() {
			require.NoError(t, replace(c.path, []byte(`{"$pulumiSecureStore": 1, "algo": "rot13", "backend": "linux-secretservice"}`)))
		},
		"a nonce of no size": func() {
			require.NoError(t, replace(c.path, []byte(`{"$pulumiSecureStore": 1, "algo": "aes-256-gcm", "backend": "linux-secretservice"}`)))
		},
	} {
		t.Run(name, func(t *testing.T) {
			k.key, c.sealing.store = bytes.Repeat([]byte{7}, keystore.KeySize), "linux-secretservice"
			require.NoError(t, replace(c.path, []byte(sealedByPulumi)))
			spoil()
			_, err := c.Current()
			require.ErrorIs(t, err, ErrEncrypted)
		})
	}
}

func TestWithoutAKeyStoreOnlyAutoWritesPlainText(t *testing.T) {
	c := sealed(t, "auto", &heldKey{err: keystore.ErrUnavailable})
	require.NoError(t, c.Login("file:///a"))
	require.Contains(t, content(t, c), "file:///a")
	c = sealed(t, "os", &heldKey{err: keystore.ErrUnavailable})
	require.ErrorIs(t, c.Login("file:///a"), keystore.ErrUnavailable)
	require.NoFileExists(t, c.path)
}

func TestCredentialsThatCannotBeReadCanBeForgotten(t *testing.T) {
	k := &heldKey{key: bytes.Repeat([]byte{7}, keystore.KeySize)}
	c := sealed(t, "", k)
	require.NoError(t, replace(c.path, []byte(`{"$pulumiSecureStore": 2}`)))
	require.NoError(t, c.Forget(false))
	require.NoFileExists(t, c.path)
	require.NotNil(t, k.key)
	require.NoError(t, c.Forget(true))
	require.Nil(t, k.key)
}
