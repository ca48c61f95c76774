package seal_test

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/converter"
	"google.golang.org/protobuf/proto"

	"github.com/sluice-iac/sluice/fleet/seal"
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
	_, err := seal.ReadKey(none, file, false)
	require.ErrorContains(t, err, "sluice fleet key")
	made, err := seal.ReadKey(none, file, true)
	require.NoError(t, err)
	again, err := seal.ReadKey(none, file, true)
	require.NoError(t, err)
	require.Equal(t, made, again)
	given := seal.NewKey()
	got, err := seal.ReadKey(func(name string) (string, bool) { return given.String(), name == seal.Variable }, file, true)
	require.NoError(t, err)
	require.Equal(t, given, got)
	_, err = seal.ReadKey(func(name string) (string, bool) { return "short", name == seal.Variable }, file, true)
	require.ErrorContains(t, err, "32 bytes")
	got, err = seal.ReadKey(func(name string) (string, bool) { return file, name == seal.FileVariable }, "nowhere", true)
	require.NoError(t, err)
	require.Equal(t, made, got)
}
