//go:build !windows

package language_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/source/internal/monitortest"
	"github.com/sluice-iac/sluice/source/language"
	"github.com/sluice-iac/sluice/stages"
)

// behaviour is the environment variable that turns the test binary into a language plugin and selects its behaviour.
const behaviour = "SLUICE_TEST_LANGUAGE"

func TestMain(m *testing.M) {
	if how := os.Getenv(behaviour); how != "" {
		bePlugin(how)
	}
	os.Exit(m.Run())
}

func bePlugin(how string) {
	fmt.Fprintln(os.Stderr, "starting up")
	switch how {
	case "no port":
		fmt.Println("not a port")
		return
	case "dies early":
		os.Exit(4)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	s := grpc.NewServer()
	h := &fakeHost{how: how, cancelled: make(chan struct{})}
	if len(os.Args) > 1 {
		h.engine = os.Args[1]
	}
	pulumirpc.RegisterLanguageRuntimeServer(s, h)
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	if err := s.Serve(listener); err != nil {
		panic(err)
	}
	os.Exit(0)
}

// fakeHost is a language plugin whose programs declare one resource, with the requests to the plugin as its properties.
type fakeHost struct {
	pulumirpc.UnimplementedLanguageRuntimeServer
	how, engine string
	cancelled   chan struct{}
}

func (h *fakeHost) Handshake(_ context.Context, req *pulumirpc.LanguageHandshakeRequest) (*pulumirpc.LanguageHandshakeResponse, error) {
	h.engine = req.GetEngineAddress()
	return &pulumirpc.LanguageHandshakeResponse{}, nil
}

func (h *fakeHost) GetRequiredPackages(ctx context.Context, req *pulumirpc.GetRequiredPackagesRequest) (*pulumirpc.GetRequiredPackagesResponse, error) {
	if h.how == "old" {
		return h.UnimplementedLanguageRuntimeServer.GetRequiredPackages(ctx, req)
	}
	return &pulumirpc.GetRequiredPackagesResponse{Packages: []*pulumirpc.PackageDependency{
		{Name: "aws", Kind: "resource", Version: "v6.0.0", Server: req.GetInfo().GetProgramDirectory(), Checksums: map[string][]byte{"linux-amd64": {1}}},
		{Name: "nodejs", Kind: "language", Version: "1.0.0"},
		{
			Name: "terraform-provider", Kind: "resource", Version: "0.1.0", Server: strconv.Itoa(os.Getpid()),
			Parameterization: &pulumirpc.PackageParameterization{Name: "random", Version: "4.0.0", Value: []byte("v")},
		},
	}}, nil
}

func (h *fakeHost) GetRequiredPlugins(context.Context, *pulumirpc.GetRequiredPluginsRequest) (*pulumirpc.GetRequiredPluginsResponse, error) {
	return &pulumirpc.GetRequiredPluginsResponse{Plugins: []*pulumirpc.PluginDependency{{Name: "gcp", Kind: "resource", Version: "7.0.0"}}}, nil
}

func (h *fakeHost) Cancel(context.Context, *emptypb.Empty) (*emptypb.Empty, error) {
	close(h.cancelled)
	return &emptypb.Empty{}, nil
}

func (h *fakeHost) Run(ctx context.Context, req *pulumirpc.RunRequest) (*pulumirpc.RunResponse, error) {
	conn, err := grpc.NewClient(req.GetMonitorAddress(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close() }()
	req.MonitorAddress = "" // differs from run to run
	object, err := property.MarshalStruct(property.NewMap(map[string]property.Value{
		"request": property.String(protojson.Format(req)), "engine": property.String(h.engine), "pid": property.Number(float64(os.Getpid())),
	}), property.WireOptions{})
	if err != nil {
		return nil, err
	}
	_, err = pulumirpc.NewResourceMonitorClient(conn).RegisterResource(ctx, &pulumirpc.RegisterResourceRequest{
		Type: "test:index:Thing", Name: "thing", Custom: true, Object: object,
	})
	if err != nil {
		return nil, err
	}
	fmt.Print("to stdout\nthe rest of a line")
	switch h.how {
	case "bail":
		return &pulumirpc.RunResponse{Bail: true}, nil
	case "error":
		return &pulumirpc.RunResponse{Error: "it <{%fg 1%}>broke<{%reset%}>"}, nil
	case "fails":
		return nil, fmt.Errorf("no such virtual environment")
	case "crash":
		fmt.Fprintln(os.Stderr, "last words")
		os.Exit(3)
	case "hangs":
		select {}
	case "waits":
		<-h.cancelled
		return &pulumirpc.RunResponse{Bail: true}, nil
	}
	return &pulumirpc.RunResponse{}, nil
}

func project(t testing.TB) source.Project {
	t.Helper()
	root := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(root, "app"), 0o755))
	return source.Project{
		Runtime: "test", Root: root, Directory: filepath.Join(root, "app"), Entry: "main.test",
		Args: []string{"--one"}, Options: map[string]any{"venv": "x", "n": 3},
	}
}

// plugin makes an executable with the name of a language plugin and a selected behaviour.
func plugin(t testing.TB, how string) string {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "pulumi-language-test")
	require.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\n"+behaviour+"='"+how+"' exec "+self+" \"$@\"\n"), 0o755))
	return path
}

func start(t testing.TB, how string) (*language.Program, *monitortest.Monitor, source.Host) {
	t.Helper()
	m := &monitortest.Monitor{Run: stages.RunInfo{
		Organization: "organization", Project: "proj", Stack: "dev", DryRun: true, Parallel: 16,
		Config: map[string]string{"proj:a": "1", "proj:s": "hush"}, ConfigSecretKeys: []string{"proj:s"},
	}}
	host := monitortest.Host(t, m)
	p := language.New(project(t), language.Options{Executable: plugin(t, how), Engine: host.Engine})
	t.Cleanup(func() { require.NoError(t, p.Close()) })
	return p, m, host
}

func engineOf(t *testing.T, host source.Host) string {
	address, err := host.Engine.Address()
	require.NoError(t, err)
	return address
}

func TestAPluginIsToldEverythingAboutTheProgram(t *testing.T) {
	p, m, host := start(t, "ok")
	require.NoError(t, p.Run(context.Background(), host))
	inputs := m.Record().Registered[0].Inputs
	require.Equal(t, property.String(engineOf(t, host)), inputs.At("engine"))
	var got pulumirpc.RunRequest
	require.NoError(t, protojson.Unmarshal([]byte(inputs.At("request").AsString()), &got))
	require.Equal(t, "proj", got.GetProject())
	require.Equal(t, "dev", got.GetStack())
	require.Equal(t, "organization", got.GetOrganization())
	require.Equal(t, []string{"--one"}, got.GetArgs())
	require.Equal(t, m.Run.Config, got.GetConfig())
	require.Equal(t, []string{"proj:s"}, got.GetConfigSecretKeys())
	require.True(t, got.GetDryRun())
	require.EqualValues(t, 16, got.GetParallel())
	info := got.GetInfo()
	require.Equal(t, filepath.Join(info.GetRootDirectory(), "app"), info.GetProgramDirectory())
	require.Equal(t, info.GetProgramDirectory(), got.GetPwd())
	require.Equal(t, "main.test", info.GetEntryPoint())
	//lint:ignore SA1019 older plugins read it
	require.Equal(t, "main.test", got.GetProgram())
	require.Equal(t, map[string]any{"venv": "x", "n": 3.0}, info.GetOptions().AsMap())
}

func TestOutputOfThePluginIsShownInRuns(t *testing.T) {
	p, m, host := start(t, "ok")
	_, err := p.Packages(context.Background())
	require.NoError(t, err)
	require.NoError(t, p.Run(context.Background(), host))
	require.Contains(t, m.Messages(stages.InfoErr), "starting up\n")
	require.Contains(t, m.Messages(stages.Info), "to stdout\n")
	require.Contains(t, m.Messages(stages.Info), "the rest of a line\n")
}

func TestOnePluginServesPackagesAndRuns(t *testing.T) {
	p, m, host := start(t, "ok")
	list, err := p.Packages(context.Background())
	require.NoError(t, err)
	require.Len(t, list, 2)
	require.Equal(t, "aws", list[0].Name)
	require.Equal(t, "6.0.0", list[0].Version)
	require.Equal(t, "app", filepath.Base(list[0].DownloadURL), "the plugin knows the program's directory")
	require.Equal(t, map[string][]byte{"linux-amd64": {1}}, list[0].Checksums)
	served := list[1].DownloadURL
	require.Equal(t, stages.Package{
		Name: "terraform-provider", Version: "0.1.0", DownloadURL: served,
		Parameterization: &stages.Parameterization{Name: "random", Version: "4.0.0", Value: []byte("v")},
	}, list[1])
	require.NoError(t, p.Run(context.Background(), host))
	require.NoError(t, p.Run(context.Background(), host))
	ran := m.Record().Registered
	require.Equal(t, served, strconv.Itoa(int(ran[0].Inputs.At("pid").AsNumber())))
	require.NotEqual(t, ran[0].Inputs.At("pid"), ran[1].Inputs.At("pid"), "the end of a run is the end of the plugin, and of what it prints")
}

func TestAnotherEngineAddressStartsThePluginAgain(t *testing.T) {
	p, m, host := start(t, "ok")
	require.NoError(t, p.Run(context.Background(), host))
	host.Engine = monitortest.At("127.0.0.1:1")
	require.NoError(t, p.Run(context.Background(), host))
	require.Equal(t, property.String("127.0.0.1:1"), m.Record().Registered[1].Inputs.At("engine"))
}

func TestAnOldPluginListsPlugins(t *testing.T) {
	p, _, _ := start(t, "old")
	list, err := p.Packages(context.Background())
	require.NoError(t, err)
	require.Equal(t, []stages.Package{{Name: "gcp", Version: "7.0.0"}}, list)
}

func TestFailuresOfPrograms(t *testing.T) {
	t.Run("bail", func(t *testing.T) {
		p, _, host := start(t, "bail")
		require.ErrorIs(t, p.Run(context.Background(), host), source.ErrReported)
	})
	t.Run("error", func(t *testing.T) {
		p, _, host := start(t, "error")
		require.EqualError(t, p.Run(context.Background(), host), "an unhandled error occurred: it broke")
	})
	t.Run("the plugin refuses", func(t *testing.T) {
		p, _, host := start(t, "fails")
		err := p.Run(context.Background(), host)
		require.ErrorContains(t, err, "no such virtual environment")
		require.ErrorContains(t, err, "pulumi-language-test")
	})
}

func TestAPluginThatDiesIsNamedWithItsLastOutput(t *testing.T) {
	p, _, host := start(t, "crash")
	for range 2 { // it is started again
		err := p.Run(context.Background(), host)
		require.ErrorContains(t, err, "pulumi-language-test")
		require.ErrorContains(t, err, "exit status 3")
		require.ErrorContains(t, err, "last words")
	}
}

func TestAPluginThatDoesNotStartIsNamed(t *testing.T) {
	for how, want := range map[string]string{"no port": "not a port", "dies early": "exit status 4"} {
		t.Run(how, func(t *testing.T) {
			p, _, host := start(t, how)
			err := p.Run(context.Background(), host)
			require.ErrorContains(t, err, "pulumi-language-test")
			require.ErrorContains(t, err, want)
			require.ErrorContains(t, err, "starting up")
		})
	}
	t.Run("no such file", func(t *testing.T) {
		p := language.New(project(t), language.Options{Executable: "/no/such/pulumi-language-test"})
		_, err := p.Packages(context.Background())
		require.ErrorContains(t, err, "plugin pulumi-language-test [/no/such/pulumi-language-test] cannot be started")
	})
}

func TestTheEndOfTheContextCancelsTheProgram(t *testing.T) {
	p, m, host := start(t, "waits")
	ctx, cancel := context.WithCancel(context.Background())
	m.OnRegister = func(_ context.Context, req *stages.RegisterRequest) (*stages.RegisterReply, error) {
		cancel()
		return m.Accept(req), nil
	}
	err := p.Run(ctx, host)
	require.ErrorIs(t, err, source.ErrReported, "the plugin ended the program in its own way")
}

func TestAPluginThatDoesNotEndItsProgramIsEndedItself(t *testing.T) {
	p, m, host := start(t, "hangs")
	ctx, cancel := context.WithCancel(context.Background())
	m.OnRegister = func(_ context.Context, req *stages.RegisterRequest) (*stages.RegisterReply, error) {
		cancel()
		return m.Accept(req), nil
	}
	require.ErrorIs(t, p.Run(ctx, host), context.Canceled)
	pid := int(m.Record().Registered[0].Inputs.At("pid").AsNumber())
	require.ErrorIs(t, syscall.Kill(pid, 0), syscall.ESRCH)
}

func TestAPluginThatRunsAlreadyIsAttachedToAndNotStopped(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s := grpc.NewServer()
	pulumirpc.RegisterLanguageRuntimeServer(s, &fakeHost{how: "ok"})
	go func() { _ = s.Serve(listener) }()
	t.Cleanup(s.Stop)

	m := &monitortest.Monitor{}
	host := monitortest.Host(t, m)
	for range 2 {
		p := language.New(project(t), language.Options{Port: listener.Addr().(*net.TCPAddr).Port})
		require.NoError(t, p.Run(context.Background(), host))
		require.NoError(t, p.Close())
	}
	require.Equal(t, property.String(engineOf(t, host)), m.Record().Registered[1].Inputs.At("engine"))
}

// inlineHost is a process whose own function is the program, as in the Automation API: it has no handshake and lists its plugins in the
// older form.
type inlineHost struct{ fakeHost }

func (*inlineHost) Handshake(ctx context.Context, req *pulumirpc.LanguageHandshakeRequest) (*pulumirpc.LanguageHandshakeResponse, error) {
	return pulumirpc.UnimplementedLanguageRuntimeServer{}.Handshake(ctx, req)
}

func TestAnInlineProgramGetsTheEngineWithItsArguments(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s := grpc.NewServer()
	pulumirpc.RegisterLanguageRuntimeServer(s, &inlineHost{fakeHost{how: "old"}})
	go func() { _ = s.Serve(listener) }()
	t.Cleanup(s.Stop)

	m := &monitortest.Monitor{}
	host := monitortest.Host(t, m)
	p := language.New(project(t), language.Options{Port: listener.Addr().(*net.TCPAddr).Port, Inline: true, Engine: host.Engine})
	list, err := p.Packages(context.Background())
	require.NoError(t, err)
	require.Equal(t, []stages.Package{{Name: "gcp", Version: "7.0.0"}}, list)
	require.NoError(t, p.Run(context.Background(), host))
	require.NoError(t, p.Close())
	var got pulumirpc.RunRequest
	require.NoError(t, protojson.Unmarshal([]byte(m.Record().Registered[0].Inputs.At("request").AsString()), &got))
	require.Equal(t, []string{engineOf(t, host), "--one"}, got.GetArgs())
}
