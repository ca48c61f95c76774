package secrets

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/state"
)

// tray is a key service that reverses bytes, and counts its calls.
type tray struct {
	opened, decrypted int
	fail              error
}

func (t *tray) turn(b []byte) []byte {
	out := []byte{0xff, 0xfe} // so that it is not a text
	for _, x := range b {
		out = append(out, ^x)
	}
	return out
}

func (t *tray) Encrypt(_ context.Context, b []byte) ([]byte, error) { return t.turn(b), t.fail }

func (t *tray) Decrypt(_ context.Context, b []byte) ([]byte, error) {
	t.decrypted++
	if t.fail != nil {
		return nil, t.fail
	}
	return t.turn(b[2:])[2:], nil
}

func (t *tray) Close() error { return nil }

func (t *tray) source(env map[string]string) Source {
	open := func(context.Context, string, func(string) (string, bool)) (Keeper, error) { t.opened++; return t, nil }
	from := NewSource(func(name string) (string, bool) { v, ok := env[name]; return v, ok }, nil)
	return from.WithKeepers(map[string]KeeperOpener{"awskms": open, azureScheme: open})
}

func decrypts(t *testing.T, m Manager, sealed, want string) {
	t.Helper()
	text, err := m.Decrypter().Decrypt(context.Background(), sealed)
	require.NoError(t, err)
	require.Equal(t, want, text)
}

func TestKeyServiceEncryptsADataKey(t *testing.T) {
	ctx := context.Background()
	for _, url := range []string{"awskms://alias/x?region=y", "azurekeyvault://vault/keys/x"} {
		t.Run(schemeOf(url), func(t *testing.T) {
			service := &tray{}
			from := service.source(nil)
			c, err := Choose(ctx, Settings{Provider: url}, nil, from)
			require.NoError(t, err)
			require.Equal(t, url, c.Save.Provider)
			require.Empty(t, c.Save.Salt)
			sealed, err := c.Manager.Encrypter().Encrypt(ctx, "text")
			require.NoError(t, err)

			raw, err := base64.StdEncoding.DecodeString(c.Save.EncryptedKey)
			require.NoError(t, err)
			if schemeOf(url) == azureScheme {
				raw, err = base64.RawURLEncoding.DecodeString(string(raw))
				require.NoError(t, err)
				// One release of Pulumi has omitted the inner encoding.
				bare, err := json.Marshal(cloudState{url, base64.StdEncoding.EncodeToString(raw)})
				require.NoError(t, err)
				m, err := FromState(ctx, &state.SecretsProvider{Type: TypeCloud, State: bare}, from)
				require.NoError(t, err)
				decrypts(t, m, sealed, "text")
			}
			require.Len(t, raw, 34)

			again, err := Choose(ctx, *c.Save, c.Manager.Provider(), from)
			require.NoError(t, err)
			require.Nil(t, again.Save)
			require.False(t, again.Disagrees)
			service.decrypted = 0
			decrypts(t, again.Manager, sealed, "text")
			decrypts(t, again.Manager, sealed, "text")
			require.Equal(t, 1, service.decrypted)

			fromState, err := Choose(ctx, Settings{}, c.Manager.Provider(), from)
			require.NoError(t, err)
			require.Equal(t, c.Save, fromState.Save)
			decrypts(t, fromState.Manager, sealed, "text")
		})
	}
}

func TestAnotherKeyServiceForOneRunMakesANewDataKey(t *testing.T) {
	ctx := context.Background()
	service := &tray{}
	c, err := Choose(ctx, Settings{Provider: "awskms://a"}, nil, service.source(nil))
	require.NoError(t, err)
	other, err := Choose(ctx, *c.Save, c.Manager.Provider(), service.source(map[string]string{EnvCloudOverride: "awskms://b"}))
	require.NoError(t, err)
	require.Equal(t, "awskms://b", other.Save.Provider)
	require.NotEqual(t, c.Save.EncryptedKey, other.Save.EncryptedKey)
	require.True(t, other.Disagrees)
}

func TestAKeyServiceThatRefusesIsTold(t *testing.T) {
	ctx := context.Background()
	service := &tray{}
	m, _, err := NewManager(ctx, "awskms://a", service.source(nil))
	require.NoError(t, err)
	service.fail = errors.New("access denied")
	m, err = FromState(ctx, m.Provider(), service.source(nil))
	require.NoError(t, err)
	_, err = m.Decrypter().Decrypt(ctx, "v1:x:y")
	require.EqualError(t, err, "the secrets provider awskms://a: access denied")
}

func TestAKeyServiceThatFailsOnceIsAskedAgain(t *testing.T) {
	ctx := context.Background()
	service := &tray{}
	from := service.source(nil)
	made, err := NewCloud(ctx, "awskms://alias/x", from)
	require.NoError(t, err)
	m, err := FromState(ctx, made.Provider(), from)
	require.NoError(t, err)
	service.decrypted, service.fail = 0, errors.New("throttled")
	_, err = m.Encrypter().Encrypt(ctx, "text")
	require.ErrorContains(t, err, "throttled")
	service.fail = nil
	for range 2 {
		_, err = m.Encrypter().Encrypt(ctx, "text")
		require.NoError(t, err)
	}
	require.Equal(t, 2, service.decrypted, "the key is kept")
}

func TestProvidersAreNamedByTheirKind(t *testing.T) {
	from := (&tray{}).source(nil)
	for text, want := range map[string]string{
		"default": "", "passphrase": "", "awskms://x": "", "gcpkms://x": "driver", "mystery://x": "unknown secrets provider type 'mystery'",
		"plain": "unknown secrets provider type 'plain'",
	} {
		err := CheckProvider(text, from)
		if want == "" {
			require.NoError(t, err, text)
			continue
		}
		require.ErrorContains(t, err, want, text)
	}
}

func FuzzDecrypt(f *testing.F) {
	k, err := NewKey(make([]byte, keyLength))
	require.NoError(f, err)
	f.Add(k.seal(make([]byte, 12), "x"))
	for _, text := range []string{"", "v1:::", "v1:AAAA:AAAA", "v1:CwoJCAcGBQQDAgEA:uaL4UgmzacV4nKpe6c0irkvsCtA3uOs="} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		plain, err := k.Decrypt(context.Background(), text)
		if err != nil {
			require.Empty(t, plain)
			return
		}
		// A text that can be decrypted came from this key, and ciphertexts have one form.
		again, err := k.Encrypt(context.Background(), plain)
		require.NoError(t, err)
		require.Len(t, again, len(text))
	})
}

func FuzzProviderState(f *testing.F) {
	f.Add(TypePassphrase, `{"salt":"`+vectorSalt+`"}`)
	f.Add(TypeCloud, `{"url":"azurekeyvault://v/keys/k","encryptedkey":"AAAA"}`)
	f.Add(TypeCloud, `{`)
	f.Fuzz(func(t *testing.T, kind, text string) {
		m, err := FromState(context.Background(), &state.SecretsProvider{Type: kind, State: json.RawMessage(text)}, (&tray{}).source(map[string]string{EnvPassphrase: ""}))
		if err == nil {
			require.NotNil(t, m.Provider())
		}
	})
}
