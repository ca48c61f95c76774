package monitor_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"github.com/sourcegraph/conc/pool"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/source/internal/monitortest"
	"github.com/sluice-iac/sluice/source/monitor"
	"github.com/sluice-iac/sluice/stages"
)

// waitLimit bounds the wait of a test for an event. After that time the event will never come.
const (
	waitLimit = 5 * time.Minute
	waitStep  = 5 * time.Millisecond
)

func TestThousandsOfParkedRegistrationsLeaveTheServerResponsive(t *testing.T) {
	const n = 5000
	var parked, done sync.WaitGroup
	parked.Add(n)
	release := make(chan struct{})
	m := &monitortest.Monitor{Run: run()}
	m.OnRegister = func(_ context.Context, req *stages.RegisterRequest) (*stages.RegisterReply, error) {
		parked.Done()
		<-release
		return m.Accept(req), nil
	}
	client := start(t, m)
	errs := make([]error, n)
	for i := range n {
		done.Go(func() {
			_, errs[i] = client.RegisterResource(context.Background(), &pulumirpc.RegisterResourceRequest{Type: "a:b:C", Name: fmt.Sprint(i)})
		})
	}
	parked.Wait()
	_, err := client.Invoke(context.Background(), &pulumirpc.ResourceInvokeRequest{Tok: "a:b:f"})
	require.NoError(t, err)
	close(release)
	done.Wait()
	for _, err := range errs {
		require.NoError(t, err)
	}
}

// The buffers of a Unix socket are small. If both sides stop reading because they cannot write, nothing ever moves again: versions 1.82.1 to 1.84 of gRPC
// for Go do that, so the server must go on reading whatever the client does.
func TestAnswersAtOnceToManyRegistrationsOnASocketAllArrive(t *testing.T) {
	const callers, each = 1000, 5
	m := &monitortest.Monitor{Run: run()}
	m.OnRegister = func(_ context.Context, req *stages.RegisterRequest) (*stages.RegisterReply, error) {
		return m.Accept(req), nil
	}
	at, err := serve(t, source.ServedMonitor{Monitor: m}).SocketAddress()
	require.NoError(t, err)
	client := pulumirpc.NewResourceMonitorClient(dial(t, at))
	ctx, cancel := context.WithTimeout(t.Context(), waitLimit)
	defer cancel()
	all := pool.New().WithErrors()
	for i := range callers {
		all.Go(func() error {
			var err error
			for n := range each {
				_, failed := client.RegisterResource(ctx, &pulumirpc.RegisterResourceRequest{
					Type: "test:index:Res", Name: fmt.Sprintf("res-%d-%d", i, n), Custom: true, Object: typical(),
				})
				err = errors.Join(err, failed)
			}
			return err
		})
	}
	require.NoError(t, all.Wait())
}

func TestMessagesMayBeLargerThanTheDefaultOfGRPC(t *testing.T) {
	m := &monitortest.Monitor{Run: run()}
	conn := dial(t, address(t, serve(t, source.ServedMonitor{Monitor: m})), grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(64<<20), grpc.MaxCallSendMsgSize(64<<20)))
	text := strings.Repeat("x", 16<<20)
	got, err := pulumirpc.NewResourceMonitorClient(conn).RegisterResource(context.Background(), &pulumirpc.RegisterResourceRequest{
		Type: "a:b:C", Custom: true, Object: &structpb.Struct{Fields: map[string]*structpb.Value{"big": structpb.NewStringValue(text)}},
	})
	require.NoError(t, err)
	require.Len(t, got.GetObject().GetFields()["big"].GetStringValue(), len(text))
}

func TestDeeplyNestedPropertiesAreRefusedAndDoNotCrash(t *testing.T) {
	v := structpb.NewStringValue("x")
	for range 9000 {
		v = structpb.NewListValue(&structpb.ListValue{Values: []*structpb.Value{v}})
	}
	_, err := start(t, &monitortest.Monitor{Run: run()}).RegisterResource(context.Background(), &pulumirpc.RegisterResourceRequest{
		Type: "a:b:C", Custom: true, Object: &structpb.Struct{Fields: map[string]*structpb.Value{"deep": v}},
	})
	require.Error(t, err)
}

// typical is a resource of ordinary size: ten properties, one of them nested.
func typical() *structpb.Struct {
	s, err := structpb.NewStruct(map[string]any{
		"name": "bucket", "region": "eu-central-1", "count": 3, "enabled": true, "description": strings.Repeat("d", 80),
		"tags":  map[string]any{"team": "a", "cost-centre": "b", "env": "dev"},
		"cidrs": []any{"10.0.0.0/16", "10.1.0.0/16"}, "acl": "private", "kind": "standard", "owner": "somebody",
	})
	if err != nil {
		panic(err)
	}
	return s
}

// FuzzRegister passes arbitrary bytes as a RegisterResourceRequest to the handler, and encodes the reply.
func FuzzRegister(f *testing.F) {
	seed := func(req *pulumirpc.RegisterResourceRequest) {
		b, err := proto.Marshal(req)
		require.NoError(f, err)
		f.Add(b)
	}
	seed(&pulumirpc.RegisterResourceRequest{})
	seed(&pulumirpc.RegisterResourceRequest{Type: "a:b:C", Custom: true, Object: typical(), Parent: urnA})
	seed(&pulumirpc.RegisterResourceRequest{Type: "a:b:C", Remote: true, Object: wire(f, everything()), Aliases: []*pulumirpc.Alias{
		{}, {Alias: &pulumirpc.Alias_Spec_{Spec: &pulumirpc.Alias_Spec{Name: "n"}}},
	}})
	s, _ := structpb.NewStruct(map[string]any{"x": map[string]any{property.SignatureKey: 1}})
	seed(&pulumirpc.RegisterResourceRequest{Type: "a:b:C", Object: s, Transforms: []*pulumirpc.Callback{{Target: "a", Token: "b"}}})
	f.Add([]byte{0xff, 0x01})

	f.Fuzz(func(t *testing.T, b []byte) {
		var req pulumirpc.RegisterResourceRequest
		if proto.Unmarshal(b, &req) != nil {
			return
		}
		reply, err := monitor.RegisterDirectly(&monitortest.Monitor{Run: run()}, &req)
		if err != nil {
			require.Contains(t, []codes.Code{codes.InvalidArgument, codes.Unknown}, status.Code(err))
			return
		}
		_, err = proto.Marshal(reply)
		require.NoError(t, err, "a reply can always be sent")
	})
}
