package monitor_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/source/internal/monitortest"
	"github.com/sluice-iac/sluice/source/monitor"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

func run() stages.RunInfo {
	return stages.RunInfo{
		Organization: "organization", Project: "proj", Stack: "dev",
		Config: map[string]string{"proj:a": "1", "proj:s": "hush"}, ConfigSecretKeys: []string{"proj:s"},
		DryRun: true, Parallel: 7,
	}
}

// start serves m and returns a client; both are closed with the test.
func start(t testing.TB, m stages.Monitor) pulumirpc.ResourceMonitorClient {
	t.Helper()
	return startAs(t, source.ServedMonitor{Monitor: m})
}

// startAs is start for a monitor that is served in another way.
func startAs(t testing.TB, m source.ServedMonitor) pulumirpc.ResourceMonitorClient {
	t.Helper()
	return pulumirpc.NewResourceMonitorClient(dial(t, address(t, serve(t, m))))
}

func serve(t testing.TB, m source.ServedMonitor) *monitor.Server {
	t.Helper()
	s := monitor.NewServer(context.Background(), m)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

func address(t testing.TB, s *monitor.Server) string {
	t.Helper()
	a, err := s.Address()
	require.NoError(t, err)
	return a
}

func dial(t testing.TB, address string, options ...grpc.DialOption) *grpc.ClientConn {
	t.Helper()
	conn, err := grpc.NewClient(address, append(options, grpc.WithTransportCredentials(insecure.NewCredentials()))...)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

func TestServerListensOnTheLoopbackInterfaceAndIsHealthy(t *testing.T) {
	s := serve(t, source.ServedMonitor{Monitor: &monitortest.Monitor{Run: run()}})
	require.Regexp(t, `^127\.0\.0\.1:[0-9]+$`, address(t, s))
	reply, err := healthpb.NewHealthClient(dial(t, address(t, s))).Check(context.Background(), &healthpb.HealthCheckRequest{})
	require.NoError(t, err)
	require.Equal(t, healthpb.HealthCheckResponse_SERVING, reply.GetStatus())
}

func TestFeaturesAreAnsweredByName(t *testing.T) {
	client := startAs(t, source.ServedMonitor{Monitor: &monitortest.Monitor{Run: run()}, NoOutputValues: true})
	for id, want := range map[string]bool{
		"secrets": true, "resourceReferences": true, "aliasSpecs": true, "replacementTrigger": true, "deletedWith": true,
		"replaceWith": true, "transforms": true, "invokeTransforms": true, "parameterization": true,
		"resourceHooks": true, "errorHooks": true, "sendsOptionsToHooks": true,
		"outputValues": false, "": false,
		"snippets": false, "stateMigrations": true,
		"registerResourceOutputValues": true,
	} {
		reply, err := client.SupportsFeature(context.Background(), &pulumirpc.SupportsFeatureRequest{Id: id})
		require.NoError(t, err)
		require.Equal(t, want, reply.GetHasSupport(), id)
	}
}

func TestDeploymentInfoNamesEveryFeature(t *testing.T) {
	client := startAs(t, source.ServedMonitor{Monitor: &monitortest.Monitor{Run: run()}, NoOutputValues: true, NoResourceReferences: true})
	info, err := client.GetDeploymentInfo(context.Background(), &emptypb.Empty{})
	require.NoError(t, err)
	require.Equal(t, "proj", info.GetProject())
	require.Equal(t, "dev", info.GetStack())
	require.Equal(t, "organization", info.GetOrganization())
	require.Equal(t, run().Config, info.GetConfig())
	require.Equal(t, []string{"proj:s"}, info.GetConfigSecretKeys())
	require.True(t, info.GetDryRun())
	require.EqualValues(t, 7, info.GetParallel())
	var numbers []int
	for _, f := range info.GetSupportedFeatures() {
		numbers = append(numbers, int(f))
	}
	require.Equal(t, []int{0, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19}, numbers)
}

func TestExistsAnswersWhatTheMonitorFinds(t *testing.T) {
	m := &monitortest.Monitor{Run: run()}
	client := start(t, m)
	reply, err := client.ExistsResource(context.Background(), &pulumirpc.ExistsResourceRequest{
		Type: "aws:s3/bucket:Bucket", Id: "i", Parent: urnA, Properties: wire(t, everything()), Provider: "p::id", Version: "v1.0.0",
		PluginDownloadURL: "https://x", PluginChecksums: map[string][]byte{"linux-amd64": {9}}, PackageRef: "ref",
	})
	require.NoError(t, err)
	require.True(t, reply.GetExists())
	require.Equal(t, []*stages.ExistsRequest{{
		Type: "aws:s3/bucket:Bucket", ID: property.String("i"), Parent: urnA, Properties: everything(), Provider: "p::id", PackageRef: "ref",
		Package: stages.Package{Name: "aws", Version: "1.0.0", DownloadURL: "https://x", Checksums: map[string][]byte{"linux-amd64": {9}}},
	}}, m.Record().Exists)

	reply, err = client.ExistsResource(context.Background(), &pulumirpc.ExistsResourceRequest{Type: "a:b:C", Id: urn.UnknownID})
	require.NoError(t, err)
	require.True(t, reply.GetUnknown())

	_, err = client.ExistsResource(context.Background(), &pulumirpc.ExistsResourceRequest{Type: "C", Id: "i"})
	require.Equal(t, codes.InvalidArgument, status.Code(err))
}

func TestErrorsHaveTheirCodes(t *testing.T) {
	for name, c := range map[string]struct {
		err  error
		code codes.Code
		text string
	}{
		"shut down": {
			fmt.Errorf("register: %w", stages.ErrShutDown), codes.Unavailable,
			"resource monitor shut down while waiting on step's done channel",
		},
		"failed": {
			fmt.Errorf("x: %w", stages.ErrRegistrationFailed), codes.Internal, "resource registration failed",
		},
		"invalid": {
			&stages.InvalidRequestError{Err: errors.New("bad alias")}, codes.InvalidArgument, "bad alias",
		},
		"other": {
			errors.New("unknown provider 'x'"), codes.Unknown, "unknown provider 'x'",
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := &monitortest.Monitor{Run: run(),
				OnRegister: func(context.Context, *stages.RegisterRequest) (*stages.RegisterReply, error) { return nil, c.err },
				OnRead:     func(context.Context, *stages.ReadRequest) (*stages.RegisterReply, error) { return nil, c.err },
				OnInvoke:   func(context.Context, *stages.InvokeRequest) (*stages.InvokeReply, error) { return nil, c.err },
				OnCall:     func(context.Context, *stages.CallRequest) (*stages.CallReply, error) { return nil, c.err },
				OnOutputs:  func(context.Context, urn.URN, property.Map) error { return c.err },
				OnPackage:  func(context.Context, stages.Package) (string, error) { return "", c.err },
				OnWait:     func(context.Context) error { return c.err },
			}
			client, ctx := start(t, m), context.Background()
			_, register := client.RegisterResource(ctx, &pulumirpc.RegisterResourceRequest{Type: "a:b:C", Custom: true})
			_, read := client.ReadResource(ctx, &pulumirpc.ReadResourceRequest{Type: "a:b:C"})
			_, invoke := client.Invoke(ctx, &pulumirpc.ResourceInvokeRequest{Tok: "a:b:f"})
			_, call := client.Call(ctx, &pulumirpc.ResourceCallRequest{Tok: "a:b:C/m"})
			_, outputs := client.RegisterResourceOutputs(ctx, &pulumirpc.RegisterResourceOutputsRequest{Urn: "urn:pulumi:dev::proj::a:b:C::x"})
			_, pkg := client.RegisterPackage(ctx, &pulumirpc.RegisterPackageRequest{Name: "p"})
			_, wait := client.SignalAndWaitForShutdown(ctx, &emptypb.Empty{})
			for _, err := range []error{register, read, invoke, call, outputs, pkg, wait} {
				require.Equal(t, c.code, status.Code(err))
				require.Equal(t, c.text, status.Convert(err).Message())
			}
		})
	}
}

func TestPackagesArriveComplete(t *testing.T) {
	m := &monitortest.Monitor{Run: run()}
	reply, err := start(t, m).RegisterPackage(context.Background(), &pulumirpc.RegisterPackageRequest{
		Name: "terraform-provider", Version: "1.2.3", DownloadUrl: "https://x", Checksums: map[string][]byte{"linux-amd64": {1}},
		Parameterization: &pulumirpc.Parameterization{Name: "p", Version: "0.1.0", Value: []byte("v")},
		Extension:        &pulumirpc.Parameterization{Name: "e", Version: "0.2.0", Value: []byte("w")},
	})
	require.NoError(t, err)
	require.Equal(t, "package-1", reply.GetRef())
	require.Equal(t, []stages.Package{{
		Name: "terraform-provider", Version: "1.2.3", DownloadURL: "https://x", Checksums: map[string][]byte{"linux-amd64": {1}},
		Parameterization: &stages.Parameterization{Name: "p", Version: "0.1.0", Value: []byte("v")},
		Extension:        &stages.Parameterization{Name: "e", Version: "0.2.0", Value: []byte("w")},
	}}, m.Record().Packages)
}

func TestMalformedPackagesAreRefused(t *testing.T) {
	client := start(t, &monitortest.Monitor{Run: run()})
	for text, req := range map[string]*pulumirpc.RegisterPackageRequest{
		"package name is empty":                          {},
		`invalid version "one": it must look like 1.2.3`: {Name: "p", Version: "one"},
		`invalid version "two": it must look like 1.2.3`: {Name: "p", Parameterization: &pulumirpc.Parameterization{Version: "two"}},
	} {
		_, err := client.RegisterPackage(context.Background(), req)
		require.Equal(t, codes.InvalidArgument, status.Code(err))
		require.Equal(t, text, status.Convert(err).Message())
	}
}

func TestClosingReleasesAParkedRegistration(t *testing.T) {
	parked := make(chan struct{})
	m := &monitortest.Monitor{Run: run(), OnRegister: func(ctx context.Context, _ *stages.RegisterRequest) (*stages.RegisterReply, error) {
		close(parked)
		<-ctx.Done()
		return nil, stages.ErrShutDown
	}}
	s := monitor.NewServer(context.Background(), source.ServedMonitor{Monitor: m})
	client := pulumirpc.NewResourceMonitorClient(dial(t, address(t, s)))
	failed := make(chan error, 1)
	go func() {
		_, err := client.RegisterResource(context.Background(), &pulumirpc.RegisterResourceRequest{Type: "a:b:C", Custom: true})
		failed <- err
	}()
	<-parked
	require.NoError(t, s.Close())
	require.Equal(t, codes.Unavailable, status.Code(<-failed))
	require.NoError(t, s.Close(), "closing again does nothing")
}

func TestTheEndOfTheContextStopsTheServer(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	s := monitor.NewServer(ctx, source.ServedMonitor{Monitor: &monitortest.Monitor{Run: run()}})
	before := address(t, s)
	cancel()
	require.NoError(t, s.Close())
	_, err := s.SocketAddress()
	require.ErrorContains(t, err, "closed")
	_, err = pulumirpc.NewResourceMonitorClient(dial(t, before)).SupportsFeature(context.Background(), &pulumirpc.SupportsFeatureRequest{})
	require.Equal(t, codes.Unavailable, status.Code(err))
}
