package monitor_test

import (
	"context"
	"testing"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/source/internal/monitortest"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

func TestEveryFieldOfAnInvokeArrives(t *testing.T) {
	m := &monitortest.Monitor{Run: run()}
	req := &pulumirpc.ResourceInvokeRequest{
		Tok: "aws:ec2:getVpc", Args: wire(t, everything()), Provider: "p::id", Version: "1.0.0",
		PluginDownloadURL: "https://x", PluginChecksums: map[string][]byte{"linux-amd64": {9}}, PackageRef: "ref",
		Parent: urnA, DependsOn: []string{urnA, urnB},
	}

	_, err := start(t, m).Invoke(context.Background(), req)
	require.NoError(t, err)
	require.Equal(t, []*stages.InvokeRequest{{
		Token: "aws:ec2:getVpc", Args: everything(), Provider: "p::id", PackageRef: "ref",
		Package: stages.Package{Name: "aws", Version: "1.0.0", DownloadURL: "https://x", Checksums: map[string][]byte{"linux-amd64": {9}}},
		Parent:  urnA, DependsOn: []urn.URN{urnA, urnB},
	}}, m.Record().Invokes)
}

func TestInvokesKeepSecretsAndGiveReferencesToThoseWhoAcceptThem(t *testing.T) {
	full := wire(t, everything()).AsMap()
	plain := wire(t, everything()).AsMap()
	plain["ref"] = "id-b"
	for name, c := range map[string]struct {
		req  *pulumirpc.ResourceInvokeRequest
		want map[string]any
	}{
		"without references": {&pulumirpc.ResourceInvokeRequest{Tok: "a:b:f"}, plain},
		"with references":    {&pulumirpc.ResourceInvokeRequest{Tok: "a:b:f", AcceptResources: true}, full},
		"getResource":        {&pulumirpc.ResourceInvokeRequest{Tok: "pulumi:pulumi:getResource"}, full},
	} {
		t.Run(name, func(t *testing.T) {
			m := &monitortest.Monitor{Run: run(), OnInvoke: func(context.Context, *stages.InvokeRequest) (*stages.InvokeReply, error) {
				return &stages.InvokeReply{Return: everything()}, nil
			}}
			got, err := start(t, m).Invoke(context.Background(), c.req)
			require.NoError(t, err)
			require.Equal(t, c.want, got.GetReturn().AsMap())
			require.False(t, got.GetUnknown())
		})
	}
}

func TestInvokeFailuresAndUnknownResults(t *testing.T) {
	m := &monitortest.Monitor{Run: run(), OnInvoke: func(context.Context, *stages.InvokeRequest) (*stages.InvokeReply, error) {
		return &stages.InvokeReply{Failures: []stages.CheckFailure{{Property: "p", Reason: "r"}}, Unknown: true}, nil
	}}
	got, err := start(t, m).Invoke(context.Background(), &pulumirpc.ResourceInvokeRequest{Tok: "a:b:f"})
	require.NoError(t, err)
	require.Len(t, got.GetFailures(), 1)
	require.Equal(t, "p", got.GetFailures()[0].GetProperty())
	require.Equal(t, "r", got.GetFailures()[0].GetReason())
	require.True(t, got.GetUnknown())
}

func TestEveryFieldOfACallArrives(t *testing.T) {
	m := &monitortest.Monitor{Run: run(), OnCall: func(context.Context, *stages.CallRequest) (*stages.CallReply, error) {
		return &stages.CallReply{
			Return: everything(), ReturnDependencies: map[string][]urn.URN{"plain": {urnA}},
			Failures: []stages.CheckFailure{{Property: "p", Reason: "r"}},
		}, nil
	}}
	got, err := startAs(t, source.ServedMonitor{Monitor: m, Root: "/p"}).Call(context.Background(), &pulumirpc.ResourceCallRequest{
		Tok: "aws:ec2:Vpc/m", Args: wire(t, everything()),
		ArgDependencies: map[string]*pulumirpc.ResourceCallRequest_ArgumentDependencies{"plain": {Urns: []string{urnB}}},
		Provider:        "p::id", Version: "1.0.0", PluginDownloadURL: "https://x",
		PluginChecksums: map[string][]byte{"linux-amd64": {9}}, PackageRef: "ref",
		SourcePosition: &pulumirpc.SourcePosition{Uri: "file:///p/a.ts", Line: 1}, ParentStackTraceHandle: "handle",
	})
	require.NoError(t, err)
	require.Equal(t, []*stages.CallRequest{{
		Token: "aws:ec2:Vpc/m", Args: everything().LiftOutputs(), ArgDependencies: map[string][]urn.URN{"plain": {urnB}},
		Provider: "p::id", PackageRef: "ref",
		Package:        stages.Package{Name: "aws", Version: "1.0.0", DownloadURL: "https://x", Checksums: map[string][]byte{"linux-amd64": {9}}},
		SourcePosition: "project:///a.ts#1", StackTraceHandle: "handle",
	}}, m.Record().Calls)
	require.Equal(t, wire(t, everything()).AsMap(), got.GetReturn().AsMap())
	require.Equal(t, []string{urnA}, got.GetReturnDependencies()["plain"].GetUrns())
	require.Equal(t, "r", got.GetFailures()[0].GetReason())
}

func TestMalformedCallsAreRefused(t *testing.T) {
	_, err := start(t, &monitortest.Monitor{Run: run()}).Call(context.Background(), &pulumirpc.ResourceCallRequest{
		ArgDependencies: map[string]*pulumirpc.ResourceCallRequest_ArgumentDependencies{"b": {Urns: []string{"x"}}, "a": {Urns: []string{"x"}}},
	})
	require.Equal(t, codes.InvalidArgument, status.Code(err))
	require.Contains(t, status.Convert(err).Message(), "argument a")
}

// The dependencies of outputs arrive with the arguments, and return to a caller that accepts outputs.
func TestOutputsInInvokesAndCallsKeepTheirDependencies(t *testing.T) {
	output := property.NewMap(map[string]property.Value{"o": property.OutputOf(property.Output{
		Element: property.String("x"), Known: true, Dependencies: []urn.URN{urnA},
	})})
	m := &monitortest.Monitor{
		Run: run(),
		OnInvoke: func(context.Context, *stages.InvokeRequest) (*stages.InvokeReply, error) {
			return &stages.InvokeReply{Return: output}, nil
		},
		OnCall: func(context.Context, *stages.CallRequest) (*stages.CallReply, error) {
			return &stages.CallReply{Return: output}, nil
		},
	}
	client := start(t, m)
	for _, accepts := range []bool{false, true} {
		want := any("x")
		if accepts {
			want = wire(t, output).AsMap()["o"]
		}
		invoked, err := client.Invoke(context.Background(), &pulumirpc.ResourceInvokeRequest{Tok: "a:b:f", Args: wire(t, output), AcceptOutputValues: accepts})
		require.NoError(t, err)
		require.Equal(t, want, invoked.GetReturn().AsMap()["o"])
		called, err := client.Call(context.Background(), &pulumirpc.ResourceCallRequest{Tok: "a:b:C/f", Args: wire(t, output), AcceptOutputValues: accepts})
		require.NoError(t, err)
		require.Equal(t, want, called.GetReturn().AsMap()["o"])
	}
	got := m.Record()
	require.Equal(t, []urn.URN{urnA}, got.Invokes[1].Args.OutputDependencies()["o"])
	require.True(t, got.Invokes[1].KeepOutputs)
	require.False(t, got.Invokes[0].KeepOutputs)
	require.True(t, got.Calls[1].KeepOutputs)
}

// Strings that are not UTF-8 are sent only to callers that accept them.
func TestByteStringsGoToThoseWhoAcceptThem(t *testing.T) {
	bytes := property.NewMap(map[string]property.Value{"b": property.String("\xff\x00")})
	m := &monitortest.Monitor{Run: run(), OnInvoke: func(_ context.Context, req *stages.InvokeRequest) (*stages.InvokeReply, error) {
		return &stages.InvokeReply{Return: req.Args}, nil
	}}
	sent, err := property.MarshalStruct(bytes, property.WireOptions{KeepByteStrings: true})
	require.NoError(t, err)
	got, err := start(t, m).Invoke(context.Background(), &pulumirpc.ResourceInvokeRequest{Tok: "a:b:f", Args: sent, AcceptsByteString: true})
	require.NoError(t, err)
	require.Equal(t, sent.AsMap(), got.GetReturn().AsMap())
	_, err = start(t, m).Invoke(context.Background(), &pulumirpc.ResourceInvokeRequest{Tok: "a:b:f", Args: sent})
	require.ErrorContains(t, err, "does not support")
}
