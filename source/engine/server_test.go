package engine

import (
	"context"
	"sync"
	"testing"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/sluice-iac/sluice/stages"
)

// messages is a sink for many goroutines.
type messages struct {
	mu   sync.Mutex
	list []stages.LogMessage
}

func (m *messages) add(l stages.LogMessage) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.list = append(m.list, l)
}

func start(t *testing.T, sink func(stages.LogMessage), options ...Option) (*Server, *grpc.ClientConn) {
	t.Helper()
	s := NewServer(context.Background(), sink, options...)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	address, err := s.Address()
	require.NoError(t, err)
	conn, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	return s, conn
}

func TestTheCommandLineOfAJVMIsLeftOut(t *testing.T) {
	const end = " failed with an unhandled exception:\njava.lang.Error: (no)\n\tat a.B.c(B.java:1)"
	for message, want := range map[string]string{
		"Running program [PID: 12](/jdk/bin/java -Dx=(y) -cp a.jar:b.jar a.B)" + end: "Running program [PID: 12]" + end,
		"Running program '/x (y)'" + end:                                             "Running program '/x (y)'" + end,
		"all [PID: 1](a) failed":                                                     "all [PID: 1](a) failed",
	} {
		require.Equal(t, want, withoutCommandLine(message))
	}
}

func TestLogMessagesArrivePlain(t *testing.T) {
	const u = "urn:pulumi:dev::proj::a:b:C::x"
	for name, c := range map[string]struct {
		req  *pulumirpc.LogRequest
		want stages.LogMessage
	}{
		"debug":   {&pulumirpc.LogRequest{Message: "m"}, stages.LogMessage{Severity: stages.Debug, Message: "m"}},
		"info":    {&pulumirpc.LogRequest{Severity: 1, Message: "m", Urn: u}, stages.LogMessage{Severity: stages.Info, Message: "m", URN: u}},
		"warning": {&pulumirpc.LogRequest{Severity: 2, StreamId: 7}, stages.LogMessage{Severity: stages.Warning, StreamID: 7}},
		"error":   {&pulumirpc.LogRequest{Severity: 3, Ephemeral: true}, stages.LogMessage{Severity: stages.Error, Ephemeral: true}},
		"unheard": {&pulumirpc.LogRequest{Severity: 9}, stages.LogMessage{Severity: stages.Error}},
		"bad URN": {&pulumirpc.LogRequest{Urn: "x"}, stages.LogMessage{}},
		"colours": {&pulumirpc.LogRequest{Message: "<{%fg 1%}>a<{%reset%}>\x1b[31mb\x1b[0m"}, stages.LogMessage{Message: "ab"}},
	} {
		t.Run(name, func(t *testing.T) {
			var got messages
			_, conn := start(t, got.add)
			_, err := pulumirpc.NewEngineClient(conn).Log(context.Background(), c.req)
			require.NoError(t, err)
			require.Equal(t, []stages.LogMessage{c.want}, got.list)
		})
	}
}

func TestEachRunMayHaveItsOwnSink(t *testing.T) {
	s, conn := start(t, nil)
	client, ctx := pulumirpc.NewEngineClient(conn), context.Background()
	var first, second messages
	for i, sink := range []func(stages.LogMessage){nil, first.add, second.add, nil} {
		if i > 0 {
			s.Attach(sink)
		}
		_, err := client.Log(ctx, &pulumirpc.LogRequest{Message: "m", StreamId: int32(i)})
		require.NoError(t, err)
	}
	require.Equal(t, []stages.LogMessage{{Message: "m", StreamID: 1}}, first.list)
	require.Equal(t, []stages.LogMessage{{Message: "m", StreamID: 2}}, second.list)
}

func TestTheRootResourceIsRememberedForOneOperation(t *testing.T) {
	s, conn := start(t, nil)
	client, ctx := pulumirpc.NewEngineClient(conn), context.Background()
	root := func() string {
		got, err := client.GetRootResource(ctx, &pulumirpc.GetRootResourceRequest{})
		require.NoError(t, err)
		return got.GetUrn()
	}
	var received messages
	for name, sink := range map[string]func(stages.LogMessage){"another operation": received.add, "none": nil} {
		t.Run(name, func(t *testing.T) {
			require.Empty(t, root())
			_, err := client.SetRootResource(ctx, &pulumirpc.SetRootResourceRequest{Urn: "urn:x"})
			require.NoError(t, err)
			require.Equal(t, "urn:x", root())
			s.Attach(sink)
			require.Empty(t, root(), "it is that of the operation before")
		})
	}
}

func TestAProgramThatWaitsForADebuggerSaysSo(t *testing.T) {
	var got messages
	_, conn := start(t, got.add)
	client := pulumirpc.NewEngineClient(conn)
	config, err := structpb.NewStruct(map[string]any{"type": "node", "port": 9229})
	require.NoError(t, err)
	_, err = client.StartDebugging(context.Background(), &pulumirpc.StartDebuggingRequest{Message: "on port 1", Config: config})
	require.NoError(t, err)
	_, err = client.StartDebugging(context.Background(), &pulumirpc.StartDebuggingRequest{Message: "somewhere"})
	require.NoError(t, err)
	require.Equal(t, []stages.LogMessage{
		{
			Severity: stages.Info, Message: "Waiting for debugger to attach (on port 1)...", Ephemeral: true,
			Debugger: map[string]any{"type": "node", "port": 9229.0},
		},
		{Severity: stages.Info, Message: "Waiting for debugger to attach (somewhere)...", Ephemeral: true, Debugger: map[string]any{}},
	}, got.list)
}

func TestTheServerIsHealthy(t *testing.T) {
	_, conn := start(t, nil)
	require.Regexp(t, `^127\.0\.0\.1:[0-9]+$`, conn.Target())
	reply, err := healthpb.NewHealthClient(conn).Check(context.Background(), &healthpb.HealthCheckRequest{})
	require.NoError(t, err)
	require.Equal(t, healthpb.HealthCheckResponse_SERVING, reply.GetStatus())
}

func TestVersionRangesAreChecked(t *testing.T) {
	_, conn := start(t, nil)
	client := pulumirpc.NewEngineClient(conn)
	require.Equal(t, codes.OK, codeFor(client, ">=3.0.0"))
	require.Equal(t, codes.FailedPrecondition, codeFor(client, "<3.0.0"))
	require.Equal(t, codes.InvalidArgument, codeFor(client, "soon"))
	_, err := client.RequirePulumiVersion(context.Background(), &pulumirpc.RequirePulumiVersionRequest{PulumiVersionRange: ">4.0.0"})
	require.Equal(t, "Pulumi CLI version "+CompatibilityVersion+` does not satisfy the version range ">4.0.0"`, status.Convert(err).Message())
}

func codeFor(client pulumirpc.EngineClient, text string) codes.Code {
	_, err := client.RequirePulumiVersion(context.Background(), &pulumirpc.RequirePulumiVersionRequest{PulumiVersionRange: text})
	return status.Code(err)
}

func TestVersionRanges(t *testing.T) {
	for text, want := range map[string]map[string]bool{
		">=3.0.0":                {"3.0.0": true, "2.9.9": false, "4.0.0": true, "3.0.0-alpha.1": false, "3.1.0-alpha.1": true},
		"> 3.0.0":                {"3.0.0": false, "3.0.1": true},
		"<=3.0.0":                {"3.0.0": true, "3.0.1": false},
		"<3.0.0":                 {"3.0.0": false, "2.9.9": true},
		"3.1.2":                  {"3.1.2": true, "3.1.3": false},
		"=3.1.2":                 {"3.1.2": true, "3.1.3": false},
		"== 3.1.2":               {"3.1.2": true, "3.1.3": false},
		"!3.1.2":                 {"3.1.2": false, "3.1.3": true},
		"!=3.1.2":                {"3.1.2": false, "3.1.3": true},
		">=3.5.0 !3.7.7":         {"3.5.0": true, "3.7.7": false, "3.4.0": false},
		"<3.4.0 || >3.8.0":       {"3.3.0": true, "3.5.0": false, "3.9.0": true},
		">1.0.0 <2.0.0||>=3.0.0": {"1.5.0": true, "2.5.0": false, "3.0.0": true},
		"3.x":                    {"3.0.0": true, "3.99.1": true, "4.0.0": false, "2.9.9": false},
		"3.2.x":                  {"3.2.9": true, "3.3.0": false},
		"3.x.x":                  {"3.2.9": true, "4.0.0": false},
		">3.x":                   {"3.9.9": false, "4.0.0": true},
		"<=3.x":                  {"3.9.9": true, "4.0.0": false},
		"!3.x":                   {"3.9.9": false, "4.0.0": true},
	} {
		for version, in := range want {
			got, err := satisfies(version, text)
			require.NoError(t, err, text)
			require.Equal(t, in, got, "%s in %q", version, text)
		}
	}
}

func TestMalformedVersionRangesAreErrors(t *testing.T) {
	for _, text := range []string{"", "||", "x", "3", "3.1", ">=", ">>3.0.0", "3.0.0 ||", "x.x.x", "3.x.1.x", "1.2.3.4"} {
		_, err := satisfies("3.0.0", text)
		require.Error(t, err, text)
	}
	_, err := satisfies("dev", ">=3.0.0")
	require.ErrorContains(t, err, "the engine's own version")
}
