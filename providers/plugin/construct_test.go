package plugin_test

import (
	"context"
	"net"
	"sync"
	"testing"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/plugin"
	"github.com/sluice-iac/sluice/urn"
	"github.com/sourcegraph/conc"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/emptypb"
)

// monitor answers registrations without doing anything.
type monitor struct {
	pulumirpc.UnimplementedResourceMonitorServer
	mu   sync.Mutex
	seen []string
}

func (m *monitor) RegisterResource(
	_ context.Context, req *pulumirpc.RegisterResourceRequest,
) (*pulumirpc.RegisterResourceResponse, error) {
	u := urn.New("dev", "p", urn.URN(req.GetParent()).QualifiedType(), urn.Type(req.GetType()), req.GetName())
	m.mu.Lock()
	defer m.mu.Unlock()
	m.seen = append(m.seen, string(u))
	answer := &pulumirpc.RegisterResourceResponse{Urn: string(u)}
	if req.GetCustom() {
		answer.Id = "id-" + req.GetName()
	}
	return answer, nil
}

func (m *monitor) RegisterResourceOutputs(context.Context, *pulumirpc.RegisterResourceOutputsRequest) (*emptypb.Empty, error) {
	return &emptypb.Empty{}, nil
}

func TestComponentIsConstructed(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	m := &monitor{}
	server := grpc.NewServer()
	pulumirpc.RegisterResourceMonitorServer(server, m)
	var wg conc.WaitGroup
	wg.Go(func() { _ = server.Serve(listener) })
	defer func() { server.Stop(); wg.Wait() }()

	p := configured(t, setup{})
	yes := true
	answer, err := p.Construct(t.Context(), providers.ConstructRequest{
		Deployment: providers.Deployment{Project: "p", Stack: "dev", MonitorAddress: at(listener.Addr().String())},
		Type:       "simple:index:Group", Name: "g", Inputs: object("count", 2, "x", property.Secret(property.String("s"))),
		Protect: &yes, Aliases: []urn.Alias{{Name: "old"}, {URN: web}, {NoParent: true}}, CustomTimeouts: providers.Timeouts{Create: 90},
		ResourceHooks: map[string][]string{"beforeCreate": {"h"}}, ReplacementTrigger: property.Number(1),
	})
	require.NoError(t, err)
	group := urn.New("dev", "p", "", "simple:index:Group", "g")
	require.Equal(t, group, answer.URN)
	requireSame(t, object("ids", property.ArrayOf(property.String("id-g-0"), property.String("id-g-1"))), answer.Outputs)
	require.Len(t, answer.OutputDependency["ids"], 2)
	require.Equal(t, string(group), m.seen[0])
	require.Len(t, m.seen, 3)
}

func TestComponentsNeedSecrets(t *testing.T) {
	p := configured(t, setup{env: map[string]string{"SIMPLE_FEATURES": "secrets"}})
	_, err := p.Construct(t.Context(), providers.ConstructRequest{})
	require.EqualError(t, err, "plugins that can construct components must support secrets")
}

func TestPluginThatCannotBeStartedIsNamed(t *testing.T) {
	_, err := plugin.Start(plugin.Command{Name: "ghost", Executable: "/nonexistent/ghost"})
	require.ErrorContains(t, err, "plugin ghost [/nonexistent/ghost] cannot be started")
}

func BenchmarkCheck(b *testing.B) {
	p, err := newHost(setup{}).Load(b.Context(), providers.Spec{Package: "simple"})
	require.NoError(b, err)
	defer func() { _ = p.Close() }()
	require.NoError(b, p.Configure(b.Context(), providers.ConfigureRequest{}))
	in := object("a", "1", "b", 2, "c", property.ArrayOf(property.String("x")))
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, err := p.Check(b.Context(), providers.CheckRequest{URN: web, Name: "web", Type: thing, News: in}); err != nil {
				b.Fatal(err)
			}
		}
	})
}
