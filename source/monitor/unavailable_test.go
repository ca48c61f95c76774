package monitor_test

import (
	"context"
	"encoding/base64"
	"testing"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/source/internal/monitortest"
	"github.com/sluice-iac/sluice/stages"
)

// A program gets a text for a value that is not available. The engine gets the value back, also from a longer text that contains that text.
func TestAValueThatIsNotAvailableIsFoundInWhatTheProgramSends(t *testing.T) {
	m := &monitortest.Monitor{Run: run(), OnInvoke: func(_ context.Context, req *stages.InvokeRequest) (*stages.InvokeReply, error) {
		return &stages.InvokeReply{Return: property.NewMap(map[string]property.Value{
			"pw": property.Unavailable("no key"), "plain": property.String("x"),
		})}, nil
	}}
	client := start(t, m)
	got, err := client.Invoke(context.Background(), &pulumirpc.ResourceInvokeRequest{Tok: "pulumi:pulumi:readStackOutputs"})
	require.NoError(t, err)
	text := got.GetReturn().GetFields()["pw"].GetStructValue().GetFields()["value"].GetStringValue()
	require.NotEmpty(t, text)
	for name, sent := range map[string]string{
		"itself": text, "a part": "a" + text + "b", "base64": base64.StdEncoding.EncodeToString([]byte("pw: " + text + "\n")),
		"base64 in base64's shape": base64.StdEncoding.EncodeToString([]byte("p: " + text)), "none": "x",
	} {
		args, err := structpb.NewStruct(map[string]any{"a": []any{sent}})
		require.NoError(t, err)
		_, err = client.Invoke(context.Background(), &pulumirpc.ResourceInvokeRequest{Tok: "a:b:f", Args: args})
		require.NoError(t, err)
		all := m.Record().Invokes
		why, found := property.Of(all[len(all)-1].Args).WhyUnavailable()
		require.Equal(t, name != "none", found, name)
		if found {
			require.Equal(t, "no key", why)
		}
	}
}
