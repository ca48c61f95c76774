package plugin_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/internal/serve"
	"github.com/sluice-iac/sluice/providers/providertest"
	"github.com/sluice-iac/sluice/urn"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/structpb"
)

// TestEachFeatureThatAPluginLacksIsDowngraded is about protocol.md 2.3 and 1.8: a plugin reports its features in the handshake, an old
// plugin when it is configured.
func TestEachFeatureThatAPluginLacksIsDowngraded(t *testing.T) {
	secret := property.Secret(property.String("s"))
	group := urn.New("dev", "p", "", thing, "g")
	reference := property.Of(property.Reference{URN: group, ID: property.String("id-g")})
	output := property.OutputOf(property.Output{Element: property.String("o"), Known: true, Dependencies: []urn.URN{group}})
	for name, lacks := range map[string]serve.Options{
		"nothing": {}, "secrets": {NoSecrets: true}, "references": {NoReferences: true}, "outputs": {NoOutputs: true}, "names": {NoAutonaming: true},
		"previews": {NoPreview: true},
	} {
		for _, legacy := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/legacy=%t", name, legacy), func(t *testing.T) {
				lacks.Legacy = legacy
				fake := &providertest.Fake{Base: providertest.NewCloud(providertest.Options{}).Provider("simple")}
				fake.OnCall = func(context.Context, providers.CallRequest) (providers.CallResponse, error) {
					return providers.CallResponse{}, nil
				}
				c, seen := attachedServer(t, &serve.Server{Provider: fake, Options: lacks})
				require.NoError(t, c.Configure(t.Context(), providers.ConfigureRequest{}))
				answer, err := c.Check(t.Context(), providers.CheckRequest{
					URN: web, Type: thing, News: object("secret", secret, "reference", reference), Autonaming: &providers.Autonaming{ProposedName: "n"},
				})
				require.NoError(t, err)
				check := last[*pulumirpc.CheckRequest](t, seen, "Check")
				require.Equal(t, lacks.NoSecrets, check.GetNews().GetFields()["secret"].GetStringValue() == "s")
				require.Equal(t, lacks.NoReferences, check.GetNews().GetFields()["reference"].GetStringValue() == "id-g")
				require.Equal(t, lacks.NoAutonaming, check.GetAutonaming() == nil)
				require.Equal(t, lacks.NoAutonaming, answer.AutonamingUnsupported)
				require.True(t, answer.Inputs.At("secret").IsSecret(), "what was secret stays so")

				_, err = c.Call(t.Context(), providers.CallRequest{Token: "simple:index:Thing/describe", Args: object("output", output)})
				require.NoError(t, err)
				call := last[*pulumirpc.CallRequest](t, seen, "Call")
				require.Equal(t, lacks.NoOutputs, call.GetArgs().GetFields()["output"].GetStringValue() == "o")

				_, err = c.Create(t.Context(), providers.CreateRequest{URN: web, Type: thing, Preview: true})
				require.NoError(t, err)
				seen.mu.Lock()
				defer seen.mu.Unlock()
				_, previewed := seen.seen["Create"]
				require.Equal(t, !lacks.NoPreview || !legacy, previewed, "who shakes hands knows previews")
			})
		}
	}
}

// TestNewerFeaturesAreUsedWithPluginsThatReportThem is about outputs in functions and strings that are not UTF-8.
func TestNewerFeaturesAreUsedWithPluginsThatReportThem(t *testing.T) {
	group := urn.New("dev", "p", "", thing, "g")
	output := property.OutputOf(property.Output{Element: property.String("o"), Known: true, Dependencies: []urn.URN{group}})
	for _, has := range []bool{false, true} {
		fake := &providertest.Fake{Base: providertest.NewCloud(providertest.Options{}).Provider("simple")}
		fake.OnCall = func(context.Context, providers.CallRequest) (providers.CallResponse, error) {
			return providers.CallResponse{}, nil
		}
		fake.OnInvoke = func(_ context.Context, req providers.InvokeRequest) (providers.InvokeResponse, error) {
			return providers.InvokeResponse{Return: req.Args}, nil
		}
		c, seen := attachedServer(t, &serve.Server{Provider: fake, Options: serve.Options{NoOutputs: true, ByteStrings: has, OutputsInInvoke: has, OutputsInCall: has}})
		require.NoError(t, c.Configure(t.Context(), providers.ConfigureRequest{}))
		answer, err := c.Invoke(t.Context(), providers.InvokeRequest{
			Token: "simple:index:f", Args: object("output", property.String("o")), Outputs: object("output", output),
		})
		require.NoError(t, err)
		// A plugin that was not told what the arguments depend on cannot say what the result does.
		require.Equal(t, []urn.URN{group}, answer.Return.At("output").OutputDependencies())
		require.Equal(t, !has, last[*pulumirpc.InvokeRequest](t, seen, "Invoke").GetArgs().GetFields()["output"].GetStringValue() == "o")
		_, err = c.Call(t.Context(), providers.CallRequest{Token: "simple:index:Thing/describe", Args: object("output", output)})
		require.NoError(t, err)
		require.Equal(t, !has, last[*pulumirpc.CallRequest](t, seen, "Call").GetArgs().GetFields()["output"].GetStringValue() == "o")

		_, err = c.Check(t.Context(), providers.CheckRequest{URN: web, Type: thing, News: object("bytes", "\xff")})
		if !has {
			require.ErrorContains(t, err, "does not support")
			continue
		}
		require.NoError(t, err)
		require.NotNil(t, last[*pulumirpc.CheckRequest](t, seen, "Check").GetNews().GetFields()["bytes"].GetStructValue())
		_, err = c.Check(t.Context(), providers.CheckRequest{URN: web, Type: thing, OldOutputs: object("a", "b")})
		require.NoError(t, err)
		require.Equal(t, "b", last[*pulumirpc.CheckRequest](t, seen, "Check").GetOldOutputs().GetFields()["a"].GetStringValue())
	}
}

func TestProvidersThatCannotWait(t *testing.T) {
	fake := &providertest.Fake{Base: providertest.NewCloud(providertest.Options{}).Provider("simple")}
	failed := &providers.AwaitError{Err: errors.New("in the queue")}
	fake.OnCreate = func(context.Context, providers.CreateRequest) (providers.CreateResponse, error) {
		return providers.CreateResponse{}, failed
	}
	fake.OnUpdate = func(context.Context, providers.UpdateRequest) (providers.UpdateResponse, error) {
		return providers.UpdateResponse{}, failed
	}
	c, _ := attachedServer(t, &serve.Server{Provider: fake})
	require.NoError(t, c.Configure(t.Context(), providers.ConfigureRequest{}))
	_, created := c.Create(t.Context(), providers.CreateRequest{URN: web, Type: thing})
	_, updated := c.Update(t.Context(), providers.UpdateRequest{URN: web, Type: thing, ID: "1"})
	for _, err := range []error{created, updated} {
		require.ErrorAs(t, err, new(*providers.AwaitError))
		require.ErrorContains(t, err, "in the queue")
		require.ErrorContains(t, err, "run the same command again when it has ended")
	}
}

func TestTheHandshakeLeavesOutWhatIsTurnedOff(t *testing.T) {
	port, seen := served(t, &serve.Server{Provider: providertest.NewFake("simple")})
	c, err := newHost(setup{env: map[string]string{
		"PULUMI_DEBUG_PROVIDERS": "simple:" + port, "PULUMI_DISABLE_REFRESH_BEFORE_UPDATE": "true",
	}}).Load(t.Context(), providers.Spec{Package: "simple"})
	require.NoError(t, err)
	require.False(t, last[*pulumirpc.ProviderHandshakeRequest](t, seen, "Handshake").GetSupportsRefreshBeforeUpdate())
	require.NoError(t, c.Close())
}

// complete requires that every field of a request is set.
func complete(t *testing.T, m proto.Message) {
	t.Helper()
	r := m.ProtoReflect()
	fields := r.Descriptor().Fields()
	for i := range fields.Len() {
		f := fields.Get(i)
		require.True(t, r.Has(f), "%s is left out", f.FullName())
		if f.Kind() == protoreflect.MessageKind && !f.IsList() && !f.IsMap() && f.Message().FullName() != "google.protobuf.Struct" &&
			f.Message().FullName() != "google.protobuf.Value" {
			complete(t, r.Get(f).Message().Interface())
		}
	}
}

func TestConstructAndCallCarryEverything(t *testing.T) {
	fake := providertest.NewFake("simple")
	fake.OnConstruct = func(context.Context, providers.ConstructRequest) (providers.ConstructResponse, error) {
		return providers.ConstructResponse{URN: web}, nil
	}
	fake.OnCall = func(context.Context, providers.CallRequest) (providers.CallResponse, error) {
		return providers.CallResponse{}, nil
	}
	c, seen := attached(t, fake, 4<<20)
	yes, of := true, map[string][]urn.URN{"a": {web}}
	deployment := providers.Deployment{
		Project: "p", Stack: "dev", Organization: "o", Config: map[string]string{"p:a": "b"}, ConfigSecretKeys: []string{"p:a"}, DryRun: true,
		Parallel: 7, MonitorAddress: at("127.0.0.1:1"),
	}
	_, err := c.Construct(t.Context(), providers.ConstructRequest{
		Deployment: deployment, Type: "simple:index:Group", Name: "g", Parent: web, Inputs: object("a", "b"), InputDependencies: of,
		Providers: map[string]string{"simple": "ref"}, Dependencies: []urn.URN{web}, Protect: &yes, Aliases: []urn.Alias{{Name: "old"}},
		AdditionalSecretOutputs: []string{"a"}, CustomTimeouts: providers.Timeouts{Create: 1, Update: 2, Delete: 3, Read: 4}, DeletedWith: web,
		DeleteBeforeReplace: &yes, IgnoreChanges: []string{"a"}, ReplaceOnChanges: []string{"a"}, RetainOnDelete: &yes,
		ReplaceWith: []urn.URN{web}, ReplacementTrigger: property.Number(1), StackTraceHandle: "h",
		ResourceHooks: map[string][]string{
			"before_create": {"h"}, "after_create": {"h"}, "before_update": {"h"}, "after_update": {"h"}, "before_delete": {"h"},
			"after_delete": {"h"}, "on_error": {"h"},
		},
	})
	require.NoError(t, err)
	complete(t, last[*pulumirpc.ConstructRequest](t, seen, "Construct"))
	_, err = c.Call(t.Context(), providers.CallRequest{
		Token: "simple:index:Group/do", Args: object("a", "b"), ArgDependencies: of, Deployment: deployment, StackTraceHandle: "h",
	})
	require.NoError(t, err)
	complete(t, last[*pulumirpc.CallRequest](t, seen, "Call"))
}

// odd is a plugin whose CheckConfig and DiffConfig fail in a way of their own.
type odd struct {
	serve.Server
	check, diff error
}

func (o *odd) CheckConfig(context.Context, *pulumirpc.CheckRequest) (*pulumirpc.CheckResponse, error) {
	return &pulumirpc.CheckResponse{Inputs: &structpb.Struct{}}, o.check
}

func (o *odd) DiffConfig(context.Context, *pulumirpc.DiffRequest) (*pulumirpc.DiffResponse, error) {
	return &pulumirpc.DiffResponse{Changes: pulumirpc.DiffResponse_DIFF_SOME}, o.diff
}

// TestPluginsThatSayInTheirOwnWayThatTheyDoNotCheckTheirConfiguration is about protocol.md 3.3.
func TestPluginsThatSayInTheirOwnWayThatTheyDoNotCheckTheirConfiguration(t *testing.T) {
	for name, c := range map[string]struct {
		plugin      string
		check, diff error
		fails       bool
	}{
		"a plugin without the calls": {
			"simple", status.Error(codes.Unimplemented, "unknown method"), status.Error(codes.Unimplemented, "unknown method"), false,
		},
		"the one for dynamic providers": {"pulumi-nodejs", status.Error(codes.Internal, "no"), status.Error(codes.Internal, "no"), false},
		"the one for Kubernetes": {
			"kubernetes", status.Error(codes.Unknown, "Unimplemented"), status.Error(codes.Unknown, "cannot unmarshal string into"), false,
		},
		"another one": {"simple", status.Error(codes.Internal, "no"), status.Error(codes.Unknown, "Unimplemented"), true},
	} {
		t.Run(name, func(t *testing.T) {
			port, _ := served(t, &odd{check: c.check, diff: c.diff, Server: serve.Server{Provider: providertest.NewFake(c.plugin)}})
			p, err := newHost(setup{env: map[string]string{"PULUMI_DEBUG_PROVIDERS": c.plugin + ":" + port}}).
				Load(t.Context(), providers.Spec{Package: c.plugin})
			require.NoError(t, err)
			defer func() { require.NoError(t, p.Close()) }()
			answer, err := p.CheckConfig(t.Context(), providers.CheckRequest{News: object("a", "b")})
			diff, diffErr := p.DiffConfig(t.Context(), providers.DiffRequest{})
			if c.fails {
				require.Error(t, err)
				require.Error(t, diffErr)
				return
			}
			require.NoError(t, err)
			requireSame(t, object("a", "b"), answer.Inputs)
			require.NoError(t, diffErr)
			require.Equal(t, providers.DiffUnknown, diff.Changes)
		})
	}
}

// late is a plugin that is not ready at the first call, and has no Attach if it is old.
type late struct {
	serve.Server
	asked    atomic.Int32
	notReady int32
	old      bool
}

func (l *late) Handshake(ctx context.Context, req *pulumirpc.ProviderHandshakeRequest) (*pulumirpc.ProviderHandshakeResponse, error) {
	if l.asked.Add(1) <= l.notReady {
		return nil, status.Error(codes.Unavailable, "starting")
	}
	return l.Server.Handshake(ctx, req)
}

func (l *late) Attach(ctx context.Context, req *pulumirpc.PluginAttach) (*emptypb.Empty, error) {
	if l.old {
		return nil, status.Error(codes.Unimplemented, "unknown method Attach")
	}
	return l.Server.Attach(ctx, req)
}

// TestAPluginIsAskedAgainUntilItIsReadyAndToldOfTheEngine is about protocol.md 1.8 and 1.9.
func TestAPluginIsAskedAgainUntilItIsReadyAndToldOfTheEngine(t *testing.T) {
	p := &late{notReady: 3, Server: serve.Server{Provider: providertest.NewFake("simple")}}
	_, seen := attachedServer(t, p)
	require.EqualValues(t, 4, p.asked.Load())
	introduction := last[*pulumirpc.ProviderHandshakeRequest](t, seen, "Handshake")
	require.Equal(t, "127.0.0.1:1", introduction.GetEngineAddress())
	require.Nil(t, introduction.ProgramDirectory, "what was not started has no directory")
	require.Nil(t, introduction.RootDirectory)
	require.Equal(t, "127.0.0.1:1", last[*pulumirpc.PluginAttach](t, seen, "Attach").GetAddress())

	attachedServer(t, &late{old: true, Server: serve.Server{Provider: providertest.NewFake("simple")}})
}

// TestPackagesAreParameterizedByAValueOrByArguments is about protocol.md 1.12.
func TestPackagesAreParameterizedByAValueOrByArguments(t *testing.T) {
	fake := providertest.NewFake("simple")
	fake.OnParameterize = func(context.Context, providers.ParameterizeRequest) (providers.ParameterizeResponse, error) {
		return providers.ParameterizeResponse{Name: "other", Version: "2.0.0"}, nil
	}
	c, seen := attached(t, fake, 4<<20)
	answer, err := c.Parameterize(t.Context(), providers.ParameterizeRequest{Args: []string{"a", "b c"}})
	require.NoError(t, err)
	require.Equal(t, providers.ParameterizeResponse{Name: "other", Version: "2.0.0"}, answer)
	request := last[*pulumirpc.ParameterizeRequest](t, seen, "Parameterize")
	require.Equal(t, []string{"a", "b c"}, request.GetArgs().GetArgs())
	require.Nil(t, request.GetValue())
	_, err = c.Parameterize(t.Context(), providers.ParameterizeRequest{Name: "other", Version: "2.0.0", Value: []byte("x")})
	require.NoError(t, err)
	request = last[*pulumirpc.ParameterizeRequest](t, seen, "Parameterize")
	require.Nil(t, request.GetArgs())
	require.Equal(t, "other 2.0.0 x", fmt.Sprint(request.GetValue().GetName(), " ", request.GetValue().GetVersion(), " ", string(request.GetValue().GetValue())))
}
