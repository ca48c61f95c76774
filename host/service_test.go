package host_test

import (
	"testing"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/sluice-iac/sluice/host"
	"github.com/sluice-iac/sluice/stages"
)

// The programs of two operations may ask one service, and the second one may belong to another stack.
func TestNoOperationGetsTheRootResourceOfTheOneBefore(t *testing.T) {
	h := host.Open(t.Context(), host.PluginOptions{})
	t.Cleanup(func() { require.NoError(t, h.Close()) })
	address, err := h.Service.Address()
	require.NoError(t, err)
	conn, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, conn.Close()) })
	client := pulumirpc.NewEngineClient(conn)
	for range 2 {
		h.Service.Attach(func(stages.LogMessage) {})
		got, err := client.GetRootResource(t.Context(), &pulumirpc.GetRootResourceRequest{})
		require.NoError(t, err)
		require.Empty(t, got.GetUrn())
		_, err = client.SetRootResource(t.Context(), &pulumirpc.SetRootResourceRequest{Urn: "urn:x"})
		require.NoError(t, err)
		h.Service.Attach(nil)
	}
}
