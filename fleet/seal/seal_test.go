package seal_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/sourcegraph/conc"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/converter"
	"google.golang.org/protobuf/proto"

	"github.com/sluice-iac/sluice/fleet/seal"
	"github.com/sluice-iac/sluice/state/secrets"
	"github.com/sluice-iac/sluice/testing/emulatortest"
)

func none(string) (string, bool) { return "", false }

func TestWhatIsSealedIsReadWithTheKeyAlone(t *testing.T) {
	data, failures, err := seal.Converters(seal.NewKey())
	require.NoError(t, err)
	p, err := data.ToPayload("the address is 10.0.0.1")
	require.NoError(t, err)
	text, err := proto.Marshal(p)
	require.NoError(t, err)
	require.NotContains(t, string(text), "10.0.0.1")
	var back string
	require.NoError(t, data.FromPayload(p, &back))
	require.Equal(t, "the address is 10.0.0.1", back)

	f := failures.ErrorToFailure(errors.New("password=x"))
	text, err = proto.Marshal(f)
	require.NoError(t, err)
	require.NotContains(t, string(text), "password")

	other, _, err := seal.Converters(seal.NewKey())
	require.NoError(t, err)
	require.ErrorContains(t, other.FromPayload(p, &back), "all machines need the same key")
	p.Data[30] ^= 1
	require.ErrorContains(t, data.FromPayload(p, &back), "damaged")
	plain, err := converter.GetDefaultDataConverter().ToPayload("do this")
	require.NoError(t, err)
	require.ErrorContains(t, data.FromPayload(plain, &back), "not sealed")
}

func TestTheKeyComesFromTheEnvironmentOrAFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "key")
	_, err := seal.ReadKey(t.Context(), none, nil, file, false)
	require.ErrorContains(t, err, "sluice fleet key")
	made, err := seal.ReadKey(t.Context(), none, nil, file, true)
	require.NoError(t, err)
	again, err := seal.ReadKey(t.Context(), none, nil, file, true)
	require.NoError(t, err)
	require.Equal(t, made, again)
	given := seal.NewKey()
	got, err := seal.ReadKey(t.Context(), func(name string) (string, bool) { return given.String(), name == seal.Variable }, nil, file, true)
	require.NoError(t, err)
	require.Equal(t, given, got)
	_, err = seal.ReadKey(t.Context(), func(name string) (string, bool) { return "short", name == seal.Variable }, nil, file, true)
	require.ErrorContains(t, err, "32 bytes")
	got, err = seal.ReadKey(t.Context(), func(name string) (string, bool) { return file, name == seal.FileVariable }, nil, "nowhere", true)
	require.NoError(t, err)
	require.Equal(t, made, got)
}

func TestCommandsThatMakeTheKeyAtOnceHaveTheSameOne(t *testing.T) {
	for range 50 {
		file := filepath.Join(t.TempDir(), "key")
		keys := make([]seal.Key, 8)
		var all conc.WaitGroup
		for i := range keys {
			all.Go(func() {
				var err error
				keys[i], err = seal.ReadKey(t.Context(), none, nil, file, true)
				assert.NoError(t, err)
			})
		}
		all.Wait()
		for _, key := range keys {
			require.Equal(t, keys[0], key)
		}
	}
}

func TestTheKeyComesFromWhatEncryptsIt(t *testing.T) {
	with := func(passphrase string) func(string) (string, bool) {
		return func(name string) (string, bool) { return passphrase, name == secrets.EnvPassphrase }
	}
	w, err := seal.Wrap(t.Context(), with("correct"), "passphrase")
	require.NoError(t, err)
	require.NotEmpty(t, w.Salt)
	one, err := seal.ReadKey(t.Context(), with("correct"), &w, "nowhere", false)
	require.NoError(t, err)
	require.Len(t, one, 32)
	again, err := seal.ReadKey(t.Context(), with("correct"), &w, "nowhere", false)
	require.NoError(t, err)
	require.Equal(t, one, again)
	_, err = seal.ReadKey(t.Context(), with("wrong"), &w, "nowhere", false)
	require.ErrorContains(t, err, "the key of the fleet in fleet.yaml")
	_, err = seal.ReadKey(t.Context(), none, &w, "nowhere", false)
	require.ErrorContains(t, err, "passphrase must be set")

	_, err = seal.Wrap(t.Context(), none, "unknown://key")
	require.Error(t, err)
}

func TestTheKeyComesFromAKeyService(t *testing.T) {
	for scheme, start := range emulatortest.KeyServices() {
		t.Run(scheme, func(t *testing.T) {
			service := start(t, emulatortest.Direct)
			service.Use(t)
			w, err := seal.Wrap(t.Context(), os.LookupEnv, service.URL)
			require.NoError(t, err)
			one, err := seal.ReadKey(t.Context(), os.LookupEnv, &w, "nowhere", false)
			require.NoError(t, err)
			require.Len(t, one, 32)
			wrong := w
			wrong.Provider = service.WrongKey
			_, err = seal.ReadKey(t.Context(), os.LookupEnv, &wrong, "nowhere", false)
			require.ErrorContains(t, err, "cannot be opened with "+service.WrongKey)
			service.Deny(true)
			_, err = seal.ReadKey(t.Context(), os.LookupEnv, &w, "nowhere", false)
			require.ErrorContains(t, err, "cannot be opened with "+service.URL)
		})
	}
}
