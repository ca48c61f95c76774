package secrets

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/state"
)

const vectorSalt = "v1:AAECAwQFBgc=:v1:AAECAwQFBgcICQoL:tZ1E3YZHdHD5o1bO2FyJ/v8sR+a7zg=="

// The sources are shared by the tests, since deriving a key is slow.
var (
	right = sync.OnceValue(func() Source { return FixedSource("sluice") })
	wrong = sync.OnceValue(func() Source { return FixedSource("wrong") })
	other = sync.OnceValue(func() Source { return FixedSource("p") })
)

func vectorState() *state.SecretsProvider {
	return &state.SecretsProvider{Type: TypePassphrase, State: []byte(`{"salt":"` + vectorSalt + `"}`)}
}

func TestVectorOfTheSpecification(t *testing.T) {
	ctx := context.Background()
	k, err := FixedSource("").derive("sluice", []byte{0, 1, 2, 3, 4, 5, 6, 7})
	require.NoError(t, err)
	raw, err := hex.DecodeString("7b964f82c330008af00fa9e1c9dd405acb9c8bdc1b66a568c3470e9a03d97abf")
	require.NoError(t, err)
	want, err := NewKey(raw)
	require.NoError(t, err)
	up := []byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}
	down := []byte{11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0}
	require.Equal(t, want.seal(up, "pulumi"), k.seal(up, "pulumi"))
	require.Equal(t, vectorSalt, "v1:"+base64.StdEncoding.EncodeToString([]byte{0, 1, 2, 3, 4, 5, 6, 7})+":"+k.seal(up, "pulumi"))
	require.Equal(t, "v1:CwoJCAcGBQQDAgEA:uaL4UgmzacV4nKpe6c0irkvsCtA3uOs=", k.seal(down, "hunter2"))
	require.Equal(t, "v1:CwoJCAcGBQQDAgEA:87/jSBikKfxCHm96dQEhwttl/ZerIwilng==", k.seal(down, `"hunter2"`))

	m, err := Open(ctx, vectorSalt, right())
	require.NoError(t, err)
	text, err := m.Decrypter().Decrypt(ctx, "v1:CwoJCAcGBQQDAgEA:87/jSBikKfxCHm96dQEhwttl/ZerIwilng==")
	require.NoError(t, err)
	require.Equal(t, `"hunter2"`, text)
	require.JSONEq(t, string(vectorState().State), string(m.Provider().State))
}

func TestDerivationHappensOncePerSaltAndPassphrase(t *testing.T) {
	from := FixedSource("x")
	n := 0
	derive := func(string) (*Key, error) { n++; return NewKey(make([]byte, 32)) }
	for range 3 {
		_, err := from.key(context.Background(), "salt", derive)
		require.NoError(t, err)
	}
	require.Equal(t, 1, n)
	_, err := from.key(context.Background(), "other", derive)
	require.NoError(t, err)
	require.Equal(t, 2, n)
}

func TestWrongPassphraseFromStateFailsOnlyWhenUsed(t *testing.T) {
	ctx := context.Background()
	m, err := FromState(ctx, vectorState(), wrong())
	require.NoError(t, err)
	require.Equal(t, vectorState(), m.Provider())
	_, err = m.Encrypter().Encrypt(ctx, "x")
	require.ErrorIs(t, err, ErrLocked)
	require.ErrorIs(t, err, ErrIncorrectPassphrase)
	_, err = m.Decrypter().Decrypt(ctx, "x")
	require.EqualError(t, err, "failed to decrypt: incorrect passphrase, please set PULUMI_CONFIG_PASSPHRASE to the correct "+
		"passphrase or set PULUMI_CONFIG_PASSPHRASE_FILE to a file containing the passphrase")
}

func TestWrongPassphraseFromConfigurationIsAnError(t *testing.T) {
	_, err := Choose(context.Background(), Settings{Salt: vectorSalt}, nil, wrong())
	require.EqualError(t, err, "incorrect passphrase")
}

func TestPassphraseSources(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pass")
	require.NoError(t, os.WriteFile(file, []byte(" from file\n"), 0o600))
	prompt := func(context.Context, Question, string) (string, error) { return "typed", nil }
	for name, c := range map[string]struct {
		env    map[string]string
		prompt Prompt
		want   string
		err    error
	}{
		"variable":            {env: map[string]string{EnvPassphrase: "v", EnvPassphraseFile: file}, want: "v"},
		"empty variable":      {env: map[string]string{EnvPassphrase: ""}, prompt: prompt, want: ""},
		"not trimmed":         {env: map[string]string{EnvPassphrase: " v "}, want: " v "},
		"file":                {env: map[string]string{EnvPassphraseFile: file}, prompt: prompt, want: "from file"},
		"prompt":              {env: map[string]string{EnvPassphraseFile: ""}, prompt: prompt, want: "typed"},
		"nothing":             {err: ErrNoPassphrase},
		"file does not exist": {env: map[string]string{EnvPassphraseFile: file + "x"}, err: os.ErrNotExist},
	} {
		t.Run(name, func(t *testing.T) {
			from := NewSource(func(n string) (string, bool) { v, ok := c.env[n]; return v, ok }, c.prompt)
			got, err := from.ask(context.Background(), AskExisting)
			require.ErrorIs(t, err, c.err)
			require.Equal(t, c.want, got)
		})
	}
}

func TestPromptAsksAgainAfterAWrongPassphrase(t *testing.T) {
	answers := []string{"wrong", "sluice"}
	var questions []Question
	prompt := func(_ context.Context, q Question, stack string) (string, error) {
		require.Equal(t, "shop/dev", stack)
		questions = append(questions, q)
		a := answers[0]
		answers = answers[1:]
		return a, nil
	}
	from := NewSource(func(string) (string, bool) { return "", false }, prompt).For("shop", "dev")
	for range 2 { // the second time nobody is asked
		_, err := Open(context.Background(), vectorSalt, from)
		require.NoError(t, err)
	}
	require.Empty(t, answers)
	require.Equal(t, []Question{AskExisting, AskAgain}, questions)
}

func TestChoosingTheManager(t *testing.T) {
	ctx := context.Background()
	t.Run("nothing configured makes a new passphrase", func(t *testing.T) {
		c, err := Choose(ctx, Settings{}, nil, other())
		require.NoError(t, err)
		require.NotNil(t, c.Save)
		again, err := Open(ctx, c.Save.Salt, other())
		require.NoError(t, err)
		sealed, err := c.Manager.Encrypter().Encrypt(ctx, "text")
		require.NoError(t, err)
		text, err := again.Decrypter().Decrypt(ctx, sealed)
		require.NoError(t, err)
		require.Equal(t, "text", text)
	})
	t.Run("the state is used when the configuration says nothing", func(t *testing.T) {
		c, err := Choose(ctx, Settings{}, vectorState(), right())
		require.NoError(t, err)
		require.Equal(t, &Settings{Salt: vectorSalt}, c.Save)
		require.False(t, c.Disagrees)
	})
	t.Run("the configuration wins and the disagreement is told", func(t *testing.T) {
		another := &state.SecretsProvider{Type: TypePassphrase, State: []byte(`{"salt":"v1:other"}`)}
		c, err := Choose(ctx, Settings{Salt: vectorSalt}, another, right())
		require.NoError(t, err)
		require.True(t, c.Disagrees)
		require.Nil(t, c.Save)
	})
	t.Run("agreement", func(t *testing.T) {
		c, err := Choose(ctx, Settings{Salt: vectorSalt}, vectorState(), right())
		require.NoError(t, err)
		require.False(t, c.Disagrees)
	})
	t.Run("a key service without a driver is refused", func(t *testing.T) {
		_, err := Choose(ctx, Settings{Provider: "awskms://x"}, nil, other())
		var u *UnsupportedProviderError
		require.ErrorAs(t, err, &u)
		require.Equal(t, TypeCloud, u.Type)
	})
}

func TestProvidersThatCannotBeUsedAreRefused(t *testing.T) {
	for typ, text := range map[string]string{
		TypeService: "while the service is the backend",
		"mystery":   `no known secrets provider for type "mystery"`,
	} {
		_, err := FromState(context.Background(), &state.SecretsProvider{Type: typ}, other())
		require.ErrorContains(t, err, text)
	}
}

func TestDamagedCiphertextIsRefused(t *testing.T) {
	ctx := context.Background()
	k, err := NewKey(make([]byte, 32))
	require.NoError(t, err)
	good, err := k.Encrypt(ctx, "x")
	require.NoError(t, err)
	for name, text := range map[string]string{
		"empty": "", "two parts": "v1:AAAA", "four parts": good + ":x", "version": "v2" + good[2:],
		"nonce too short": "v1:AAAA:AAAA", "not base64": "v1:*:*", "tag": good[:len(good)-6] + "AAAA==",
	} {
		t.Run(name, func(t *testing.T) {
			_, err := k.Decrypt(ctx, text)
			require.Error(t, err)
		})
	}
}

func TestThePassphraseOfOneStackCountsFirst(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "my-net"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "my-net", "dev.eu"), []byte("from the file\n"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "outside"), []byte("no"), 0o600))
	variables := map[string]string{EnvPassphrase: "of all", EnvDirectory: dir}
	source := NewSource(func(name string) (string, bool) { text, ok := variables[name]; return text, ok }, nil)
	passphrase := func(project, stack string) string {
		text, err := source.For(project, stack).ask(t.Context(), AskExisting)
		require.NoError(t, err)
		return text
	}
	require.Equal(t, "from the file", passphrase("my-net", "dev.eu"))
	require.Equal(t, "of all", passphrase("my-net", "prod"))
	require.Equal(t, "of all", passphrase("..", "outside"))
	require.Equal(t, "of all", passphrase("my-net", "../outside"))
	variables["SLUICE_PASSPHRASE_MY_NET_DEV_EU"] = "from the variable"
	require.Equal(t, "from the variable", passphrase("my-net", "dev.eu"))
	delete(variables, EnvPassphrase)
	_, err := source.For("my-net", "prod").ask(t.Context(), AskExisting)
	require.ErrorIs(t, err, ErrNoPassphrase)
	require.ErrorContains(t, err, "SLUICE_PASSPHRASE_MY_NET_PROD")
}
