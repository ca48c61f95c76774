package monitor_test

import (
	"context"
	"errors"
	"net"
	"sync/atomic"
	"testing"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/stats"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/source/internal/monitortest"
	"github.com/sluice-iac/sluice/source/monitor"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

// program is the Callbacks service of a program: token -> function.
type program struct {
	pulumirpc.UnimplementedCallbacksServer
	functions map[string]func([]byte) (proto.Message, error)
	address   string
	opened    atomic.Int32 // connections
	closed    atomic.Int32
}

func (p *program) Invoke(_ context.Context, req *pulumirpc.CallbackInvokeRequest) (*pulumirpc.CallbackInvokeResponse, error) {
	reply, err := p.functions[req.GetToken()](req.GetRequest())
	if err != nil {
		return nil, err
	}
	b, err := proto.Marshal(reply)
	return &pulumirpc.CallbackInvokeResponse{Response: b}, err
}

func (p *program) callback(token string) *pulumirpc.Callback {
	return &pulumirpc.Callback{Target: p.address, Token: token}
}

func (p *program) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context { return ctx }
func (p *program) TagRPC(ctx context.Context, _ *stats.RPCTagInfo) context.Context   { return ctx }
func (p *program) HandleRPC(context.Context, stats.RPCStats)                         {}
func (p *program) HandleConn(_ context.Context, s stats.ConnStats) {
	switch s.(type) {
	case *stats.ConnBegin:
		p.opened.Add(1)
	case *stats.ConnEnd:
		p.closed.Add(1)
	}
}

func startProgram(t *testing.T, functions map[string]func([]byte) (proto.Message, error)) *program {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	p := &program{functions: functions, address: listener.Addr().String()}
	s := grpc.NewServer(grpc.StatsHandler(p))
	pulumirpc.RegisterCallbacksServer(s, p)
	go func() { _ = s.Serve(listener) }()
	t.Cleanup(s.Stop)
	return p
}

func options() stages.TransformOptions {
	yes, no := true, false
	return stages.TransformOptions{
		DependsOn: []urn.URN{urnA}, Protect: &yes, IgnoreChanges: []string{"i"}, ReplaceOnChanges: []string{"r"}, Version: "1.0.0",
		Aliases:  []urn.Alias{{URN: urnB}, {Name: "n", NoParent: true}, {Name: "m", Parent: urnA}},
		Provider: "p::id", CustomTimeouts: stages.CustomTimeouts{Create: "1m", Update: "2m", Delete: "3m", Read: "4m"},
		PluginDownloadURL: "https://x", RetainOnDelete: &no, DeletedWith: urnB, DeleteBeforeReplace: &yes,
		AdditionalSecretOutputs: []string{"s"}, Providers: map[string]string{"aws": "q::id"},
		PluginChecksums: map[string][]byte{"linux-amd64": {9}}, Hooks: map[string][]string{"BeforeCreate": {"h"}, "OnError": {"e"}},
		Import: "imp", HideDiffs: []string{"d"}, ReplaceWith: []urn.URN{urnA}, ReplacementTrigger: property.String("t"),
	}
}

// bound registers one transform with a program and returns the resulting function.
func bound(t *testing.T, f func(*pulumirpc.TransformRequest) (*pulumirpc.TransformResponse, error)) stages.Transform {
	t.Helper()
	p := startProgram(t, map[string]func([]byte) (proto.Message, error){"t": func(b []byte) (proto.Message, error) {
		var req pulumirpc.TransformRequest
		if err := proto.Unmarshal(b, &req); err != nil {
			return nil, err
		}
		return f(&req)
	}})
	m := &monitortest.Monitor{Run: run()}
	_, err := start(t, m).RegisterStackTransform(context.Background(), p.callback("t"))
	require.NoError(t, err)
	return m.Record().Transforms[0]
}

func transformInput() stages.TransformInput {
	output := property.OutputOf(property.Output{Element: property.String("o"), Known: true, Dependencies: []urn.URN{urnB}})
	return stages.TransformInput{
		Type: "aws:s3:Bucket", Name: "n", Custom: true, Parent: urnA,
		Properties: everything().With("output", output), Options: options(),
	}
}

func TestATransformSeesEverythingAndWhatItLeavesOutStays(t *testing.T) {
	var seen *pulumirpc.TransformRequest
	f := bound(t, func(req *pulumirpc.TransformRequest) (*pulumirpc.TransformResponse, error) {
		seen = req
		return &pulumirpc.TransformResponse{}, nil
	})
	out, err := f(context.Background(), transformInput())
	require.NoError(t, err)
	require.Equal(t, transformInput(), out)
	require.Equal(t, "aws:s3:Bucket", seen.GetType())
	require.Equal(t, "n", seen.GetName())
	require.Equal(t, urnA, seen.GetParent())
	require.True(t, seen.GetCustom())
	require.Equal(t, wire(t, transformInput().Properties).AsMap(), seen.GetProperties().AsMap())
}

func TestATransformThatReturnsWhatItGotChangesNothing(t *testing.T) {
	f := bound(t, func(req *pulumirpc.TransformRequest) (*pulumirpc.TransformResponse, error) {
		return &pulumirpc.TransformResponse{Properties: req.GetProperties(), Options: req.GetOptions()}, nil
	})
	out, err := f(context.Background(), transformInput())
	require.NoError(t, err)
	require.Equal(t, transformInput(), out)
}

func TestWhatATransformReturnsReplacesAllOfIt(t *testing.T) {
	f := bound(t, func(*pulumirpc.TransformRequest) (*pulumirpc.TransformResponse, error) {
		return &pulumirpc.TransformResponse{
			Properties: wire(t, property.NewMap(map[string]property.Value{"new": property.Bool(true)})),
			Options:    &pulumirpc.TransformResourceOptions{Import: "other"},
		}, nil
	})
	out, err := f(context.Background(), transformInput())
	require.NoError(t, err)
	want := transformInput()
	want.Properties = property.NewMap(map[string]property.Value{"new": property.Bool(true)})
	want.Options = stages.TransformOptions{Import: "other"}
	require.Equal(t, want, out)
}

func TestAnExceptionInATransformIsItsMessage(t *testing.T) {
	f := bound(t, func(*pulumirpc.TransformRequest) (*pulumirpc.TransformResponse, error) {
		return nil, errors.New("no buckets on Fridays")
	})
	_, err := f(context.Background(), transformInput())
	require.EqualError(t, err, "no buckets on Fridays")
	var thrown *monitor.CallbackError
	require.ErrorAs(t, err, &thrown)
}

func TestBadURNsFromTransformsAreRefused(t *testing.T) {
	for text, o := range map[string]*pulumirpc.TransformResourceOptions{
		"invalid dependency URN: ":  {DependsOn: []string{"x"}},
		"invalid DeletedWith URN: ": {DeletedWith: "x"},
		"invalid ReplaceWith URN: ": {ReplaceWith: []string{"x"}},
		"invalid alias URN: ":       {Aliases: []*pulumirpc.Alias{{Alias: &pulumirpc.Alias_Urn{Urn: "x"}}}},
	} {
		f := bound(t, func(*pulumirpc.TransformRequest) (*pulumirpc.TransformResponse, error) {
			return &pulumirpc.TransformResponse{Options: o}, nil
		})
		_, err := f(context.Background(), transformInput())
		require.ErrorContains(t, err, text)
	}
}

func TestARegistrationBringsItsOwnTransforms(t *testing.T) {
	p := startProgram(t, map[string]func([]byte) (proto.Message, error){
		"1": func([]byte) (proto.Message, error) { return nil, errors.New("first") },
		"2": func([]byte) (proto.Message, error) { return nil, errors.New("second") },
	})
	m := &monitortest.Monitor{Run: run()}
	_, err := start(t, m).RegisterResource(context.Background(), &pulumirpc.RegisterResourceRequest{
		Type: "a:b:C", Transforms: []*pulumirpc.Callback{p.callback("1"), p.callback("2")},
	})
	require.NoError(t, err)
	for i, want := range []string{"first", "second"} {
		_, err := m.Record().Registered[0].Transforms[i](context.Background(), stages.TransformInput{})
		require.EqualError(t, err, want)
	}
}

func TestInvokeTransformsSeeAndReplaceArgumentsAndPlugin(t *testing.T) {
	reply := &pulumirpc.TransformInvokeResponse{}
	var seen pulumirpc.TransformInvokeRequest
	p := startProgram(t, map[string]func([]byte) (proto.Message, error){"t": func(b []byte) (proto.Message, error) {
		return reply, proto.Unmarshal(b, &seen)
	}})
	m := &monitortest.Monitor{Run: run()}
	_, err := start(t, m).RegisterStackInvokeTransform(context.Background(), p.callback("t"))
	require.NoError(t, err)
	f := m.Record().InvokeTransforms[0]
	in := stages.InvokeTransformInput{
		Token: "a:b:f", Args: everything(), Provider: "p::id", Version: "1.0.0", PluginDownloadURL: "https://x",
		PluginChecksums: map[string][]byte{"linux-amd64": {9}},
	}
	out, err := f(context.Background(), in)
	require.NoError(t, err)
	require.Equal(t, in, out)
	require.Equal(t, "a:b:f", seen.GetToken())
	require.Equal(t, "p::id", seen.GetOptions().GetProvider())
	require.Equal(t, "1.0.0", seen.GetOptions().GetVersion())
	require.Equal(t, "https://x", seen.GetOptions().GetPluginDownloadUrl())
	require.Equal(t, in.PluginChecksums, seen.GetOptions().GetPluginChecksums())

	reply.Args = wire(t, property.NewMap(map[string]property.Value{"x": property.Number(1)}))
	reply.Options = &pulumirpc.TransformInvokeOptions{Version: "2.0.0"}
	out, err = f(context.Background(), in)
	require.NoError(t, err)
	require.Equal(t, stages.InvokeTransformInput{
		Token: "a:b:f", Args: property.NewMap(map[string]property.Value{"x": property.Number(1)}), Version: "2.0.0",
	}, out)
}

func hookInput() stages.HookInput {
	inputs, outputs := everything(), property.NewMap(map[string]property.Value{"o": property.Number(1)})
	return stages.HookInput{
		URN: urnB, ID: "id", Name: "b", Type: "my:mod:Res", NewInputs: &inputs, OldOutputs: &outputs,
		NewOptions: &stages.HookOptions{TransformOptions: options(), Parent: urnA},
	}
}

func TestAHookLearnsWhatIsGivenAndNothingElse(t *testing.T) {
	var seen pulumirpc.ResourceHookRequest
	reply := &pulumirpc.ResourceHookResponse{}
	p := startProgram(t, map[string]func([]byte) (proto.Message, error){"h": func(b []byte) (proto.Message, error) {
		return reply, proto.Unmarshal(b, &seen)
	}})
	m := &monitortest.Monitor{Run: run()}
	_, err := start(t, m).RegisterResourceHook(context.Background(), &pulumirpc.RegisterResourceHookRequest{
		Name: "hook", Callback: p.callback("h"), OnDryRun: true, IgnoreErrors: true,
	})
	require.NoError(t, err)
	hook := m.Record().Hooks[0]
	require.Equal(t, "hook", hook.Name)
	require.True(t, hook.OnDryRun)
	require.True(t, hook.IgnoreErrors)

	require.NoError(t, hook.Run(context.Background(), hookInput()))
	require.Equal(t, urnB, seen.GetUrn())
	require.Equal(t, "id", seen.GetId())
	require.Equal(t, "b", seen.GetName())
	require.Equal(t, "my:mod:Res", seen.GetType())
	require.Equal(t, wire(t, everything()).AsMap(), seen.GetNewInputs().AsMap())
	require.Equal(t, map[string]any{"o": 1.0}, seen.GetOldOutputs().AsMap())
	require.Nil(t, seen.OldInputs)
	require.Nil(t, seen.NewOutputs)
	require.Nil(t, seen.OldOptions)
	require.Equal(t, urnA, seen.GetNewOptions().GetParent())
	require.Equal(t, "imp", seen.GetNewOptions().GetImport())
	require.Equal(t, "t", seen.GetNewOptions().GetReplacementTrigger().GetStringValue())

	reply.Error = "not today"
	require.EqualError(t, hook.Run(context.Background(), hookInput()), "not today")
}

func TestAnErrorHookIsAskedWhetherToRetry(t *testing.T) {
	var seen pulumirpc.ErrorHookRequest
	reply := &pulumirpc.ErrorHookResponse{Retry: true}
	p := startProgram(t, map[string]func([]byte) (proto.Message, error){"h": func(b []byte) (proto.Message, error) {
		return reply, proto.Unmarshal(b, &seen)
	}})
	m := &monitortest.Monitor{Run: run()}
	_, err := start(t, m).RegisterErrorHook(context.Background(), &pulumirpc.RegisterErrorHookRequest{Name: "hook", Callback: p.callback("h")})
	require.NoError(t, err)
	in := hookInput()
	in.FailedOperation, in.Errors = "create", []string{"second", "first"}
	retry, err := m.Record().ErrorHooks[0].Run(context.Background(), in)
	require.NoError(t, err)
	require.True(t, retry)
	require.Equal(t, "create", seen.GetFailedOperation())
	require.Equal(t, []string{"second", "first"}, seen.GetErrors())
	require.Equal(t, wire(t, everything()).AsMap(), seen.GetNewInputs().AsMap())
	require.Equal(t, urnA, seen.GetNewOptions().GetParent())

	reply.Retry, reply.Error = false, "broken"
	retry, err = m.Record().ErrorHooks[0].Run(context.Background(), in)
	require.EqualError(t, err, "broken")
	require.False(t, retry)
}

func TestHooksNeedAName(t *testing.T) {
	client := start(t, &monitortest.Monitor{Run: run()})
	_, err := client.RegisterResourceHook(context.Background(), &pulumirpc.RegisterResourceHookRequest{})
	require.Equal(t, codes.InvalidArgument, status.Code(err))
	require.Equal(t, "resource hook name cannot be empty", status.Convert(err).Message())
	_, err = client.RegisterErrorHook(context.Background(), &pulumirpc.RegisterErrorHookRequest{})
	require.Equal(t, codes.InvalidArgument, status.Code(err))
}

func TestCallbacksOfOneProgramShareAConnectionThatEndsWithTheServer(t *testing.T) {
	p := startProgram(t, map[string]func([]byte) (proto.Message, error){
		"t": func([]byte) (proto.Message, error) { return &pulumirpc.TransformResponse{}, nil },
	})
	m := &monitortest.Monitor{Run: run()}
	s := monitor.NewServer(context.Background(), source.ServedMonitor{Monitor: m})
	client := pulumirpc.NewResourceMonitorClient(dial(t, address(t, s)))
	for range 3 {
		_, err := client.RegisterStackTransform(context.Background(), p.callback("t"))
		require.NoError(t, err)
	}
	for _, f := range m.Record().Transforms {
		_, err := f(context.Background(), transformInput())
		require.NoError(t, err)
	}
	require.EqualValues(t, 1, p.opened.Load())
	require.NoError(t, s.Close())
	require.Eventually(t, func() bool { return p.closed.Load() == 1 }, waitLimit, waitStep)
	_, err := m.Record().Transforms[0](context.Background(), transformInput())
	require.Error(t, err, "a callback after the end fails and does not hang")
}
