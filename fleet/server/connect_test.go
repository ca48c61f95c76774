package server_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/fleet/server"
)

func TestAServerOfSomebodyElseIsReachedByTLSIfThereIsAKeyOrACertificate(t *testing.T) {
	plain, err := server.Address{Host: "temporal.example.com:7233", Namespace: "infra"}.Options()
	require.NoError(t, err)
	require.Nil(t, plain.ConnectionOptions.TLS)
	require.Nil(t, plain.Credentials)
	for name, a := range map[string]server.Address{
		"asked for": {TLS: true, ServerName: "temporal"}, "an API key": {APIKey: "x", ServerName: "temporal"},
	} {
		o, err := a.Options()
		require.NoError(t, err, name)
		require.Equal(t, "temporal", o.ConnectionOptions.TLS.ServerName, name)
	}
	broken := filepath.Join(t.TempDir(), "ca.pem")
	require.NoError(t, os.WriteFile(broken, []byte("nothing"), 0o600))
	_, err = server.Address{CA: broken}.Options()
	require.ErrorContains(t, err, "has no certificate in PEM")
	_, err = server.Address{CA: broken + "x"}.Options()
	require.ErrorContains(t, err, "--tls-ca")
	_, err = server.Address{Cert: broken, Key: broken}.Options()
	require.ErrorContains(t, err, "--tls-cert and --tls-key")
}
