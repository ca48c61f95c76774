package plugin_test

import (
	"context"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/internal/serve"
	"github.com/sluice-iac/sluice/providers/providertest"
	"github.com/sluice-iac/sluice/urn"
	"github.com/sourcegraph/conc"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/structpb"
)

// tap keeps the requests that a provider gets, by method.
type tap struct {
	mu   sync.Mutex
	seen map[string]any
}

func (t *tap) intercept(ctx context.Context, req any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
	t.mu.Lock()
	t.seen[info.FullMethod[strings.LastIndex(info.FullMethod, "/")+1:]] = req
	t.mu.Unlock()
	return next(ctx, req)
}

func last[T any](t *testing.T, p *tap, method string) T {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	require.Contains(t, p.seen, method)
	return p.seen[method].(T)
}

// attached serves a provider in this process and returns a client of it.
func attached(t *testing.T, p providers.Provider, limit int) (providers.Provider, *tap) {
	t.Helper()
	return attachedServer(t, &serve.Server{Provider: p}, grpc.MaxRecvMsgSize(limit))
}

func attachedServer(t *testing.T, p pulumirpc.ResourceProviderServer, o ...grpc.ServerOption) (providers.Provider, *tap) {
	t.Helper()
	port, requests := served(t, p, o...)
	env := map[string]string{"PULUMI_DEBUG_PROVIDERS": "simple:" + port}
	c, err := newHost(setup{env: env}).Load(t.Context(), providers.Spec{Package: "simple"})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	return c, requests
}

// servedHere serves the provider of a cloud, and returns the port.
func servedHere(t *testing.T) string {
	t.Helper()
	port, _ := served(t, &serve.Server{Provider: providertest.NewCloud(providertest.Options{}).Provider("simple")})
	return port
}

// served serves a provider in this process until the test ends.
func served(t *testing.T, p pulumirpc.ResourceProviderServer, o ...grpc.ServerOption) (port string, requests *tap) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	requests = &tap{seen: map[string]any{}}
	server := grpc.NewServer(append(o, grpc.UnaryInterceptor(requests.intercept))...)
	pulumirpc.RegisterResourceProviderServer(server, p)
	var wg conc.WaitGroup
	wg.Go(func() { _ = server.Serve(listener) })
	t.Cleanup(func() {
		server.Stop()
		wg.Wait()
	})
	return fmt.Sprint(listener.Addr().(*net.TCPAddr).Port), requests
}

// form describes the form of the parts of an encoded object.
func form(s *structpb.Struct) string {
	if s == nil {
		return "absent"
	}
	var parts []string
	for _, name := range []string{"secret", "unknown", "asset"} {
		v, ok := s.GetFields()[name]
		if !ok {
			parts = append(parts, "-")
			continue
		}
		fields := v.GetStructValue().GetFields()
		switch {
		case fields == nil:
			parts = append(parts, "plain")
		case fields["text"] != nil || name == "secret":
			parts = append(parts, "full")
		default:
			parts = append(parts, "elided")
		}
	}
	return strings.Join(parts, " ")
}

func TestEachCallHasItsFormOnTheWire(t *testing.T) {
	c, p := attached(t, providertest.NewCloud(providertest.Options{}).Provider("simple"), 4<<20)
	ctx := t.Context()
	m := object("secret", property.Secret(property.String("s")), "unknown", property.Computed(), "asset", property.TextAsset("x"))
	known := m.Without("unknown")
	u := urn.New("dev", "p", "", thing, "x")

	_, err := c.CheckConfig(ctx, providers.CheckRequest{News: m, AllowUnknowns: true})
	require.NoError(t, err)
	config := last[*pulumirpc.CheckRequest](t, p, "CheckConfig")
	require.Equal(t, "plain plain full", form(config.GetNews()))
	require.Equal(t, "- - -", form(config.GetOlds()), "empty is not absent")

	require.NoError(t, c.Configure(ctx, providers.ConfigureRequest{
		URN: "u", ID: "i", Inputs: known.With("list", property.ArrayOf(property.Number(1), property.Secret(property.String("b")))).
			With("version", property.String("1.0.0")),
	}))
	configure := last[*pulumirpc.ConfigureRequest](t, p, "Configure")
	require.Equal(t, "full - full", form(configure.GetArgs()))
	//lint:ignore SA1019 older plugins know no other form
	variables := configure.GetVariables()
	require.Equal(t, "s", variables["simple:config:secret"])
	require.Equal(t, `[1,"b"]`, variables["simple:config:list"])
	require.NotContains(t, variables, "simple:config:version")
	require.Contains(t, configure.GetArgs().GetFields(), "version")
	require.Equal(t, "i", configure.GetId())
	require.True(t, configure.GetAcceptSecrets() && configure.GetAcceptResources() && configure.GetSendsOldInputs() &&
		configure.GetSendsOldInputsToDelete())

	_, err = c.Check(ctx, providers.CheckRequest{
		URN: u, News: m, Olds: m, AllowUnknowns: true, Autonaming: &providers.Autonaming{ProposedName: "n", Mode: providers.AutonamingEnforce},
	})
	require.NoError(t, err)
	check := last[*pulumirpc.CheckRequest](t, p, "Check")
	require.Equal(t, "full plain full", form(check.GetNews()))
	require.Equal(t, "full plain full", form(check.GetOlds()))
	require.Equal(t, pulumirpc.CheckRequest_AutonamingOptions_ENFORCE, check.GetAutonaming().GetMode())

	_, err = c.Diff(ctx, providers.DiffRequest{URN: u, ID: "i", OldInputs: m, OldOutputs: m, NewInputs: m, AllowUnknowns: true})
	require.NoError(t, err)
	diff := last[*pulumirpc.DiffRequest](t, p, "Diff")
	for _, s := range []*structpb.Struct{diff.GetOlds(), diff.GetOldInputs(), diff.GetNews()} {
		require.Equal(t, "full plain elided", form(s))
	}

	_, err = c.Create(ctx, providers.CreateRequest{URN: u, Properties: m, Preview: true, Timeout: 1.5})
	require.NoError(t, err)
	create := last[*pulumirpc.CreateRequest](t, p, "Create")
	require.Equal(t, "full plain full", form(create.GetProperties()))
	require.True(t, create.GetPreview())
	require.InDelta(t, 1.5, create.GetTimeout(), 0)

	_, err = c.Update(ctx, providers.UpdateRequest{URN: u, ID: "i", OldInputs: m, OldOutputs: m, NewInputs: m, Preview: true})
	require.NoError(t, err)
	update := last[*pulumirpc.UpdateRequest](t, p, "Update")
	require.Equal(t, "full plain full", form(update.GetNews()))
	require.Equal(t, "full - elided", form(update.GetOlds()))
	require.Equal(t, "full - elided", form(update.GetOldInputs()))

	require.NoError(t, c.Delete(ctx, providers.DeleteRequest{URN: u, ID: "i", Inputs: m, Outputs: m}))
	deleted := last[*pulumirpc.DeleteRequest](t, p, "Delete")
	require.Equal(t, "full - elided", form(deleted.GetProperties()))
	require.Equal(t, "full - elided", form(deleted.GetOldInputs()))

	_, err = c.Read(ctx, providers.ReadRequest{URN: u, ID: "i", Inputs: m, State: m, Known: true})
	require.NoError(t, err)
	read := last[*pulumirpc.ReadRequest](t, p, "Read")
	require.Equal(t, "full - elided", form(read.GetInputs()))
	require.Equal(t, "full - elided", form(read.GetProperties()))
	_, err = c.Read(ctx, providers.ReadRequest{URN: u, ID: "i"})
	require.NoError(t, err)
	read = last[*pulumirpc.ReadRequest](t, p, "Read")
	require.Equal(t, "absent", form(read.GetInputs()))
	require.Equal(t, "absent", form(read.GetProperties()))

	_, err = c.Invoke(ctx, providers.InvokeRequest{Token: "simple:index:echo", Args: m, Preview: true})
	require.NoError(t, err)
	invoke := last[*pulumirpc.InvokeRequest](t, p, "Invoke")
	require.Equal(t, "full - full", form(invoke.GetArgs()))
	require.True(t, invoke.GetPreview())
}

func TestElidedAssetsThatComeBackAreRestored(t *testing.T) {
	fake := providertest.NewFake("simple")
	fake.OnRead = func(_ context.Context, req providers.ReadRequest) (providers.ReadResponse, error) {
		return providers.ReadResponse{ID: req.ID, HasInputs: true, Inputs: req.Inputs, Properties: req.State}, nil
	}
	c, _ := attached(t, fake, 4<<20)
	in := object("asset", property.TextAsset("hello"))
	got, err := c.Read(t.Context(), providers.ReadRequest{ID: "i", Inputs: in, State: in, Known: true})
	require.NoError(t, err)
	requireSame(t, in, got.Inputs)
	requireSame(t, in, got.Properties)
}

func TestAReadThatGivesAnUnknownIDIsAFaultOfTheProvider(t *testing.T) {
	fake := providertest.NewFake("simple")
	c, _ := attached(t, fake, 4<<20)
	for name, err := range map[string]error{"healthy": nil, "not healthy": &providers.InitError{ID: urn.UnknownID, Err: net.ErrClosed}} {
		t.Run(name, func(t *testing.T) {
			fake.OnRead = func(context.Context, providers.ReadRequest) (providers.ReadResponse, error) {
				return providers.ReadResponse{ID: urn.UnknownID}, err
			}
			_, err := c.Read(t.Context(), providers.ReadRequest{URN: web, ID: "i"})
			require.ErrorContains(t, err, "read of "+string(web)+": provider simple answered with the marker of an unknown value as the ID")
			require.ErrorContains(t, err, "this is a bug in the provider")
		})
	}
}

func TestMethodsThatAProviderLacksAreUnsupported(t *testing.T) {
	c, _ := attached(t, providers.Unimplemented{PackageName: "simple"}, 4<<20)
	ctx := t.Context()
	_, err := c.Create(ctx, providers.CreateRequest{})
	require.ErrorIs(t, err, providers.ErrUnsupported)
	require.ErrorIs(t, c.Delete(ctx, providers.DeleteRequest{}), providers.ErrUnsupported)
	_, err = c.Diff(ctx, providers.DiffRequest{})
	require.ErrorIs(t, err, providers.ErrUnsupported)
	_, err = c.Invoke(ctx, providers.InvokeRequest{})
	require.ErrorIs(t, err, providers.ErrUnsupported)
	_, err = c.Call(ctx, providers.CallRequest{})
	require.ErrorIs(t, err, providers.ErrUnsupported)
	_, err = c.Schema(ctx, providers.SchemaRequest{})
	require.ErrorIs(t, err, providers.ErrUnsupported)
	_, err = c.Parameterize(ctx, providers.ParameterizeRequest{})
	require.ErrorIs(t, err, providers.ErrUnsupported)
}

func TestTooLargeARequestNamesTheProperty(t *testing.T) {
	c, _ := attached(t, providertest.NewCloud(providertest.Options{}).Provider("simple"), 2<<20)
	_, err := create(t.Context(), c, "web", object("small", "x", "blob", strings.Repeat("x", 3<<20)))
	require.ErrorContains(t, err, `the largest property is "blob" with 3.0 MiB`)
	require.ErrorContains(t, err, string(web))
}

func TestParameterizedNameMustBeConfirmed(t *testing.T) {
	fake := providertest.NewFake("simple")
	fake.OnParameterize = func(context.Context, providers.ParameterizeRequest) (providers.ParameterizeResponse, error) {
		return providers.ParameterizeResponse{Name: "other"}, nil
	}
	c, _ := attached(t, fake, 4<<20)
	_, err := c.Parameterize(t.Context(), providers.ParameterizeRequest{Name: "wanted"})
	require.EqualError(t, err, `parameterize response name "other" does not match expected package "wanted"`)
}

// ticket is a Status of which only the token is used.
type ticket struct {
	providers.Status
	token providers.StatusToken
	err   error
}

func (k ticket) Token() (providers.StatusToken, error) { return k.token, k.err }

func TestCallsCarryTheOldViewsAndWhereToPublish(t *testing.T) {
	c, p := attached(t, providertest.NewCloud(providertest.Options{}).Provider("simple"), 4<<20)
	ctx := t.Context()
	require.True(t, last[*pulumirpc.ProviderHandshakeRequest](t, p, "Handshake").GetSupportsViews())
	u := urn.New("dev", "p", "", thing, "x")
	status := ticket{token: providers.StatusToken{Address: "127.0.0.1:1", Token: "t"}}
	olds := []providers.View{{
		Type: "simple:m:View", Name: "v", ParentType: "simple:m:Parent", ParentName: "above",
		Inputs: object("secret", property.Secret(property.String("s")), "asset", property.TextAsset("x")), Outputs: object("unknown", property.String("o")),
	}}
	check := func(address, token string, views []*pulumirpc.View) {
		t.Helper()
		require.Equal(t, "127.0.0.1:1 t", address+" "+token)
		require.Len(t, views, 1)
		v := views[0]
		require.Equal(t, "simple:m:View v simple:m:Parent above", strings.Join([]string{v.GetType(), v.GetName(), v.GetParentType(), v.GetParentName()}, " "))
		require.Equal(t, "full - elided", form(v.GetInputs()))
		require.Equal(t, "- plain -", form(v.GetOutputs()))
	}

	made, err := c.Create(ctx, providers.CreateRequest{URN: u, Status: status})
	require.NoError(t, err)
	create := last[*pulumirpc.CreateRequest](t, p, "Create")
	require.Equal(t, "127.0.0.1:1 t", create.GetResourceStatusAddress()+" "+create.GetResourceStatusToken())
	_, err = c.Update(ctx, providers.UpdateRequest{URN: u, ID: made.ID, OldViews: olds, Status: status})
	require.NoError(t, err)
	update := last[*pulumirpc.UpdateRequest](t, p, "Update")
	check(update.GetResourceStatusAddress(), update.GetResourceStatusToken(), update.GetOldViews())
	_, err = c.Read(ctx, providers.ReadRequest{URN: u, ID: made.ID, OldViews: olds, Status: status})
	require.NoError(t, err)
	read := last[*pulumirpc.ReadRequest](t, p, "Read")
	check(read.GetResourceStatusAddress(), read.GetResourceStatusToken(), read.GetOldViews())
	require.NoError(t, c.Delete(ctx, providers.DeleteRequest{URN: u, ID: made.ID, OldViews: olds, Status: status}))
	deletion := last[*pulumirpc.DeleteRequest](t, p, "Delete")
	check(deletion.GetResourceStatusAddress(), deletion.GetResourceStatusToken(), deletion.GetOldViews())

	_, err = c.Create(ctx, providers.CreateRequest{URN: u})
	require.NoError(t, err)
	require.Empty(t, last[*pulumirpc.CreateRequest](t, p, "Create").GetResourceStatusAddress(), "nobody takes views in")
	_, err = c.Create(ctx, providers.CreateRequest{URN: u, Status: ticket{err: fmt.Errorf("here: %w", providers.ErrUnserved)}})
	require.NoError(t, err)
	require.Empty(t, last[*pulumirpc.CreateRequest](t, p, "Create").GetResourceStatusAddress(), "nobody can be called")
	_, err = c.Create(ctx, providers.CreateRequest{URN: u, Status: ticket{err: net.ErrClosed}})
	require.ErrorIs(t, err, net.ErrClosed)
	require.ErrorContains(t, err, "letting provider simple publish views")
}
