package policy

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/structpb"
)

// behaviour is the variable that turns this test binary into a plugin. Its value is the plugin's special behaviour, comma-separated.
// journal is the variable with the path of the file for the requests.
const (
	behaviour = "SLUICE_TEST_POLICY"
	journal   = "SLUICE_TEST_JOURNAL"
)

// TestMain makes the binary act as the plugin that its link names: an analyzer, or a language plugin that runs one.
func TestMain(m *testing.M) {
	how, is := os.LookupEnv(behaviour)
	if !is {
		os.Exit(m.Run())
	}
	if strings.HasPrefix(filepath.Base(os.Args[0]), "pulumi-language-") {
		serve(func(s *grpc.Server) { pulumirpc.RegisterLanguageRuntimeServer(s, &fakeLanguage{how: how}) })
	}
	fmt.Fprintln(os.Stderr, "the pack begins")
	switch how {
	case "dies at once":
		os.Exit(4)
	case "no port":
		fmt.Println("hello")
	}
	serve(func(s *grpc.Server) { pulumirpc.RegisterAnalyzerServer(s, &fakeAnalyzer{how: strings.Split(how, ",")}) })
}

func serve(register func(*grpc.Server)) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	s := grpc.NewServer()
	register(s)
	fmt.Println(l.Addr().(*net.TCPAddr).Port)
	if err := s.Serve(l); err != nil {
		panic(err)
	}
	os.Exit(0)
}

// fakeLanguage runs plugins as processes: this binary, as an analyzer.
type fakeLanguage struct {
	pulumirpc.UnimplementedLanguageRuntimeServer
	how string
}

func (l *fakeLanguage) RunPlugin(req *pulumirpc.RunPluginRequest, stream pulumirpc.LanguageRuntime_RunPluginServer) error {
	if l.how == "only programs" {
		return status.Error(codes.Unimplemented, "no plugins")
	}
	record("RunPlugin", req)
	cmd := exec.CommandContext(stream.Context(), os.Args[0], req.GetArgs()...)
	cmd.Args[0] = "a pack"
	cmd.Env, cmd.Dir = req.GetEnv(), req.GetPwd()
	var mu sync.Mutex // guards the stream
	cmd.Stdout = writer(func(b []byte) {
		mu.Lock()
		defer mu.Unlock()
		for len(b) > 0 { // in pieces, as in a stream
			n := min(len(b), 3)
			_ = stream.Send(&pulumirpc.RunPluginResponse{Output: &pulumirpc.RunPluginResponse_Stdout{Stdout: b[:n]}})
			b = b[n:]
		}
	})
	cmd.Stderr = writer(func(b []byte) {
		mu.Lock()
		defer mu.Unlock()
		_ = stream.Send(&pulumirpc.RunPluginResponse{Output: &pulumirpc.RunPluginResponse_Stderr{Stderr: b}})
	})
	_ = cmd.Run()
	return stream.Send(&pulumirpc.RunPluginResponse{Output: &pulumirpc.RunPluginResponse_Exitcode{Exitcode: int32(cmd.ProcessState.ExitCode())}})
}

type writer func([]byte)

func (w writer) Write(b []byte) (int, error) { w(slices.Clone(b)); return len(b), nil }

// fakeAnalyzer is a policy pack that records its requests.
type fakeAnalyzer struct {
	pulumirpc.UnimplementedAnalyzerServer
	how []string
}

var journalMu sync.Mutex

func record(method string, req proto.Message) {
	journalMu.Lock()
	defer journalMu.Unlock()
	text, err := protojson.Marshal(req)
	if err != nil {
		panic(err)
	}
	f, err := os.OpenFile(os.Getenv(journal), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		panic(err)
	}
	defer f.Close()
	fmt.Fprintf(f, "%s\t%s\n", method, text)
}

func (a *fakeAnalyzer) is(how string) bool { return slices.Contains(a.how, how) }

func (a *fakeAnalyzer) Handshake(_ context.Context, r *pulumirpc.AnalyzerHandshakeRequest) (*pulumirpc.AnalyzerHandshakeResponse, error) {
	if a.is("old") {
		return nil, status.Error(codes.Unimplemented, "old")
	}
	record("Handshake", r)
	return &pulumirpc.AnalyzerHandshakeResponse{}, nil
}

func (a *fakeAnalyzer) ConfigureStack(_ context.Context, r *pulumirpc.AnalyzerStackConfigureRequest) (*pulumirpc.AnalyzerStackConfigureResponse, error) {
	if a.is("old") {
		return nil, status.Error(codes.Unimplemented, "old")
	}
	record("ConfigureStack", r)
	return &pulumirpc.AnalyzerStackConfigureResponse{}, nil
}

func (a *fakeAnalyzer) GetAnalyzerInfo(_ context.Context, r *emptypb.Empty) (*pulumirpc.AnalyzerInfo, error) {
	record("GetAnalyzerInfo", r)
	if a.is("dies when asked") {
		os.Exit(5)
	}
	schema, err := structpb.NewStruct(map[string]any{"most": map[string]any{"type": "integer", "minimum": 1, "default": 3}})
	if err != nil {
		panic(err)
	}
	info := &pulumirpc.AnalyzerInfo{
		Name: "fake", Version: "1.0.0", SupportsConfig: !a.is("no config"),
		Policies: []*pulumirpc.PolicyInfo{
			{Name: "second", EnforcementLevel: pulumirpc.EnforcementLevel_MANDATORY, PolicyType: pulumirpc.PolicyType_POLICY_TYPE_STACK},
			{Name: "first", ConfigSchema: &pulumirpc.PolicyConfigSchema{Properties: schema}, Severity: pulumirpc.PolicySeverity_POLICY_SEVERITY_LOW,
				PolicyType: pulumirpc.PolicyType_POLICY_TYPE_RESOURCE},
		},
	}
	if a.is("old") {
		for _, p := range info.Policies {
			p.PolicyType = pulumirpc.PolicyType_POLICY_TYPE_UNKNOWN
		}
	}
	return info, nil
}

func (a *fakeAnalyzer) Configure(_ context.Context, r *pulumirpc.ConfigureAnalyzerRequest) (*emptypb.Empty, error) {
	record("Configure", r)
	return &emptypb.Empty{}, nil
}

func (a *fakeAnalyzer) Remediate(_ context.Context, r *pulumirpc.AnalyzeRequest) (*pulumirpc.RemediateResponse, error) {
	if a.is("old") {
		return nil, status.Error(codes.Unimplemented, "old")
	}
	record("Remediate", r)
	m := r.GetProperties().AsMap()
	m["tag"] = "by policy"
	if a.is("copies") {
		m["copy"], m["inside"] = "hunter2hunter2", []any{map[string]any{"url": "https://u:hunter2hunter2@host"}, "plain"}
	}
	delete(m, "password")
	m["password"] = "in the clear"
	s, err := structpb.NewStruct(m)
	return &pulumirpc.RemediateResponse{
		Remediations: []*pulumirpc.Remediation{
			{PolicyName: "first", Properties: s}, {PolicyName: "second", Diagnostic: "cannot"}, {PolicyName: "third"},
		},
		NotApplicable: []*pulumirpc.PolicyNotApplicable{{PolicyName: "fourth"}},
	}, err
}

func (a *fakeAnalyzer) Analyze(ctx context.Context, r *pulumirpc.AnalyzeRequest) (*pulumirpc.AnalyzeResponse, error) {
	switch {
	case a.is("dies"):
		fmt.Println("last words")
		os.Exit(6)
	case a.is("hangs"):
		<-ctx.Done()
	case a.is("refuses"):
		return nil, status.Error(codes.Unknown, "the policy threw")
	}
	record("Analyze", r)
	fmt.Println("judging")
	return &pulumirpc.AnalyzeResponse{
		Diagnostics: []*pulumirpc.AnalyzeDiagnostic{{
			PolicyName: "first", Message: "\x1b[31mbad", EnforcementLevel: pulumirpc.EnforcementLevel_REMEDIATE,
			Severity: pulumirpc.PolicySeverity_POLICY_SEVERITY_CRITICAL, Urn: r.GetUrn(),
		}, {PolicyName: "new", EnforcementLevel: 77}},
		NotApplicable: []*pulumirpc.PolicyNotApplicable{{PolicyName: "other"}},
	}, nil
}

func (a *fakeAnalyzer) AnalyzeStack(_ context.Context, r *pulumirpc.AnalyzeStackRequest) (*pulumirpc.AnalyzeResponse, error) {
	if a.is("old") || a.is("no stack method") {
		return nil, status.Error(codes.Unimplemented, "old")
	}
	record("AnalyzeStack", r)
	return &pulumirpc.AnalyzeResponse{Diagnostics: []*pulumirpc.AnalyzeDiagnostic{{PolicyName: "second", Message: "too many"}}}, nil
}

func (a *fakeAnalyzer) Cancel(_ context.Context, r *emptypb.Empty) (*emptypb.Empty, error) {
	if a.is("old") {
		return nil, status.Error(codes.Unimplemented, "old")
	}
	record("Cancel", r)
	return &emptypb.Empty{}, nil
}

// soon waits for a condition that another process makes true.
func soon(t *testing.T, what func() bool) {
	t.Helper()
	for range 15_000 { // five minutes: only a process that hangs takes that long
		if what() {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatal("it did not happen")
}
