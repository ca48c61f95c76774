package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	codegenrpc "github.com/pulumi/pulumi/sdk/v3/proto/go/codegen"
	"github.com/sourcegraph/conc"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	grpcstatus "google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/structpb"
)

// servePlugin prints its port, as plugins do, and serves until it is killed, with a fault if FAKE_FAULT is set.
func servePlugin(register func(*grpc.Server)) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	s := grpc.NewServer(faults()...)
	register(s)
	fmt.Println(l.Addr().(*net.TCPAddr).Port)
	if err := s.Serve(l); err != nil {
		panic(err)
	}
}

func serveFakeLanguage() {
	servePlugin(func(s *grpc.Server) { pulumirpc.RegisterLanguageRuntimeServer(s, &fakeLanguage{}) })
}

func serveFakeProvider() {
	calls, cancel := context.WithCancel(context.Background())
	servePlugin(func(s *grpc.Server) {
		pulumirpc.RegisterResourceProviderServer(s, &fakeProvider{dir: os.Getenv("FAKE_CLOUD"), calls: calls, cancel: cancel})
	})
}

// fakeLanguage runs programs that are JSON files: program.json in the directory of the program.
type fakeLanguage struct {
	pulumirpc.UnimplementedLanguageRuntimeServer
}

type fakeProgram struct {
	Resources []struct {
		Name      string
		Type      string // "" is the type of the fake provider
		Inputs    map[string]any
		Protect   bool
		Component bool
		Parent    string // "" is the stack
		After     []string
		Renames   map[string]string // what a state migration renames at or below the resource
	}
	Outputs map[string]any
	Asks    []string // packages whose schemas and mappings become outputs
	Print   string   // written to the log
	Fail    string
}

func (*fakeLanguage) GetRequiredPackages(context.Context, *pulumirpc.GetRequiredPackagesRequest) (*pulumirpc.GetRequiredPackagesResponse, error) {
	return &pulumirpc.GetRequiredPackagesResponse{}, nil
}

func (*fakeLanguage) GetPluginInfo(context.Context, *emptypb.Empty) (*pulumirpc.PluginInfo, error) {
	return &pulumirpc.PluginInfo{Version: "1.0.0"}, nil
}

func (*fakeLanguage) Cancel(context.Context, *emptypb.Empty) (*emptypb.Empty, error) {
	return &emptypb.Empty{}, nil
}

func (*fakeLanguage) Run(ctx context.Context, req *pulumirpc.RunRequest) (*pulumirpc.RunResponse, error) {
	text, err := os.ReadFile(filepath.Join(req.GetPwd(), "program.json"))
	if err != nil {
		return nil, err
	}
	for name, value := range req.GetConfig() {
		replacement := fmt.Sprintf("%q", value)
		if slices.Contains(req.GetConfigSecretKeys(), name) {
			replacement = fmt.Sprintf(`{"4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", "value": %q}`, value)
		}
		text = bytes.ReplaceAll(text, fmt.Appendf(nil, "%q", "${"+name+"}"), []byte(replacement))
	}
	text = bytes.ReplaceAll(text, []byte(`"${preview}"`), fmt.Append(nil, req.GetDryRun()))
	var p fakeProgram
	if err := json.Unmarshal(text, &p); err != nil {
		return nil, err
	}
	conn, err := grpc.NewClient(req.GetMonitorAddress(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	if err := p.run(ctx, req, pulumirpc.NewResourceMonitorClient(conn)); err != nil {
		return &pulumirpc.RunResponse{Error: err.Error()}, nil
	}
	return &pulumirpc.RunResponse{}, nil
}

func (p *fakeProgram) run(ctx context.Context, req *pulumirpc.RunRequest, m pulumirpc.ResourceMonitorClient) error {
	root, err := m.RegisterResource(ctx, &pulumirpc.RegisterResourceRequest{
		Type: "pulumi:pulumi:Stack", Name: req.GetProject() + "-" + req.GetStack(), AcceptSecrets: true,
	})
	if err != nil {
		return err
	}
	urns := map[string]string{}
	callbacks := &fakeCallbacks{}
	defer callbacks.stop()
	for _, r := range p.Resources {
		inputs, err := structpb.NewStruct(r.Inputs)
		if err != nil {
			return err
		}
		in := &pulumirpc.RegisterResourceRequest{
			Type: cmp.Or(r.Type, "fake:index:Thing"), Name: r.Name, Parent: cmp.Or(urns[r.Parent], root.GetUrn()), Custom: !r.Component, Object: inputs, AcceptSecrets: true,
			SupportsPartialValues: true, Protect: &r.Protect,
		}
		for _, name := range r.After {
			in.Dependencies = append(in.Dependencies, urns[name])
		}
		if r.Renames != nil {
			if in.StateMigrations, err = callbacks.renames(r.Renames); err != nil {
				return err
			}
		}
		out, err := m.RegisterResource(ctx, in)
		if err != nil {
			return err
		}
		urns[r.Name] = out.GetUrn()
	}
	for _, name := range p.Asks {
		answer, err := asked(ctx, req.GetLoaderTarget(), req.GetMapperTarget(), name)
		if err != nil {
			return err
		}
		if p.Outputs == nil {
			p.Outputs = map[string]any{}
		}
		p.Outputs[name] = answer
	}
	outputs, err := structpb.NewStruct(p.Outputs)
	if err != nil {
		return err
	}
	if _, err := m.RegisterResourceOutputs(ctx, &pulumirpc.RegisterResourceOutputsRequest{Urn: root.GetUrn(), Outputs: outputs}); err != nil {
		return err
	}
	if p.Print != "" {
		fmt.Println(p.Print)
	}
	if p.Fail != "" {
		return errors.New(p.Fail)
	}
	return nil
}

// fakeCallbacks serves the state migration of a program.
type fakeCallbacks struct {
	pulumirpc.UnimplementedCallbacksServer
	server  *grpc.Server
	serving conc.WaitGroup
	names   map[string]string
}

func (c *fakeCallbacks) renames(names map[string]string) ([]*pulumirpc.Callback, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	c.names, c.server = names, grpc.NewServer()
	pulumirpc.RegisterCallbacksServer(c.server, c)
	c.serving.Go(func() { _ = c.server.Serve(l) })
	return []*pulumirpc.Callback{{Target: l.Addr().String(), Token: "rename"}}, nil
}

func (c *fakeCallbacks) stop() {
	if c.server != nil {
		c.server.Stop()
		c.serving.Wait()
	}
}

func (c *fakeCallbacks) Invoke(_ context.Context, req *pulumirpc.CallbackInvokeRequest) (*pulumirpc.CallbackInvokeResponse, error) {
	var in pulumirpc.StateMigrationRequest
	if err := proto.Unmarshal(req.GetRequest(), &in); err != nil {
		return nil, err
	}
	var states []map[string]any
	if err := json.Unmarshal(in.GetOldState(), &states); err != nil {
		return nil, err
	}
	out := &pulumirpc.StateMigrationResponse{Successors: map[string]string{}}
	for _, state := range states {
		was := state["urn"].(string)
		prefix, name := was[:strings.LastIndex(was, "::")+2], was[strings.LastIndex(was, "::")+2:]
		if now := c.names[name]; now != "" {
			state["urn"], out.Successors[was] = prefix+now, prefix+now
		}
	}
	if len(out.Successors) > 0 {
		var err error
		if out.NewState, err = json.Marshal(states); err != nil {
			return nil, err
		}
	}
	answer, err := proto.Marshal(out)
	return &pulumirpc.CallbackInvokeResponse{Response: answer}, err
}

// fakeProvider keeps its objects as files in a directory. A change of "region" requires a replacement, "slow" is the
// duration of a create, and "fail" makes it fail.
type fakeProvider struct {
	pulumirpc.UnimplementedResourceProviderServer
	dir  string
	told *pulumirpc.ProviderHandshakeRequest // nil for an older provider
	// calls is done when Cancel has been called.
	calls  context.Context
	cancel context.CancelFunc
}

func (*fakeProvider) GetPluginInfo(context.Context, *emptypb.Empty) (*pulumirpc.PluginInfo, error) {
	return &pulumirpc.PluginInfo{Version: "1.0.0"}, nil
}

// Handshake stores the addresses of the services if FAKE_ASKS, the name of a package, is set. Without that it is an older
// provider.
func (p *fakeProvider) Handshake(
	ctx context.Context, req *pulumirpc.ProviderHandshakeRequest,
) (*pulumirpc.ProviderHandshakeResponse, error) {
	if os.Getenv("FAKE_ASKS") == "" {
		return p.UnimplementedResourceProviderServer.Handshake(ctx, req)
	}
	p.told = req
	return &pulumirpc.ProviderHandshakeResponse{AcceptSecrets: true, AcceptResources: true}, nil
}

// asked requests the schema of a package, and its mapping for another tool.
func asked(ctx context.Context, loader, mapper, name string) (string, error) {
	schema, err := loaded(ctx, loader, &codegenrpc.GetSchemaRequest{Package: name})
	if err != nil {
		return "", err
	}
	conn := dialTest(mapper)
	defer conn.Close()
	answer, err := codegenrpc.NewMapperClient(conn).GetMapping(ctx, &codegenrpc.GetMappingRequest{Provider: "tf" + name, PulumiProvider: name})
	return fmt.Sprintf("%s mapped by %s", schema, answer.GetData()), err
}

// resolved requests the source of a package.
func resolved(ctx context.Context, resolver, text string) string {
	conn := dialTest(resolver)
	defer conn.Close()
	written, version, _ := strings.Cut(text, " ")
	is, err := pulumirpc.NewPackageResolverClient(conn).ResolvePackage(ctx, &pulumirpc.PackageSpec{Source: written, Version: version})
	if err != nil {
		return text + " is not: " + err.Error()
	}
	return fmt.Sprintf("%s is %s %s %s", text, is.GetKind(), is.GetName(), is.GetVersion())
}

// CheckConfig writes the source of the package FAKE_ASKS.
func (p *fakeProvider) CheckConfig(ctx context.Context, r *pulumirpc.CheckRequest) (*pulumirpc.CheckResponse, error) {
	if p.told != nil {
		answer, err := asked(ctx, p.told.GetLoaderTarget(), p.told.GetMapperTarget(), os.Getenv("FAKE_ASKS"))
		if err != nil {
			return nil, err
		}
		for _, text := range strings.FieldsFunc(os.Getenv("FAKE_RESOLVES"), func(r rune) bool { return r == ';' }) {
			answer += "\n" + resolved(ctx, p.told.GetResolverTarget(), text)
		}
		if err := os.WriteFile("answer", []byte(answer), 0o600); err != nil {
			return nil, err
		}
	}
	return &pulumirpc.CheckResponse{Inputs: r.GetNews()}, nil
}

func (*fakeProvider) Configure(context.Context, *pulumirpc.ConfigureRequest) (*pulumirpc.ConfigureResponse, error) {
	return &pulumirpc.ConfigureResponse{AcceptSecrets: true, SupportsPreview: true, AcceptResources: true}, nil
}

func (*fakeProvider) Check(_ context.Context, r *pulumirpc.CheckRequest) (*pulumirpc.CheckResponse, error) {
	return &pulumirpc.CheckResponse{Inputs: r.GetNews()}, nil
}

func (*fakeProvider) Diff(_ context.Context, r *pulumirpc.DiffRequest) (*pulumirpc.DiffResponse, error) {
	out := &pulumirpc.DiffResponse{Changes: pulumirpc.DiffResponse_DIFF_NONE}
	names := map[string]bool{}
	for name := range r.GetNews().GetFields() {
		names[name] = true
	}
	for name := range r.GetOldInputs().GetFields() {
		names[name] = true
	}
	for name := range names {
		was, is := r.GetOldInputs().GetFields()[name], r.GetNews().GetFields()[name]
		if was.String() == is.String() {
			continue
		}
		out.Changes = pulumirpc.DiffResponse_DIFF_SOME
		out.Diffs = append(out.Diffs, name)
		if name == "region" {
			out.Replaces = append(out.Replaces, name)
		}
	}
	return out, nil
}

func (p *fakeProvider) Create(_ context.Context, r *pulumirpc.CreateRequest) (*pulumirpc.CreateResponse, error) {
	fields := r.GetProperties().GetFields()
	if r.GetPreview() {
		return &pulumirpc.CreateResponse{Properties: r.GetProperties()}, nil
	}
	if f := fields["fail"].GetStringValue(); f != "" {
		return nil, errors.New(f)
	}
	if err := os.MkdirAll(p.dir, 0o755); err != nil {
		return nil, err
	}
	id := fmt.Sprintf("%s-%d", r.GetName(), len(p.things()))
	// The file appears when the create begins, so that a script can wait for it.
	if err := os.WriteFile(filepath.Join(p.dir, id), nil, 0o644); err != nil {
		return nil, err
	}
	if slow, err := time.ParseDuration(fields["slow"].GetStringValue()); err == nil {
		time.Sleep(slow)
	}
	for until := fields["until"].GetStringValue(); until != ""; time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(until); err == nil {
			break
		}
	}
	if fields["hold"].GetBoolValue() {
		<-p.calls.Done()
		return nil, errors.New("the create was aborted")
	}
	if reason := fields["unhealthy"].GetStringValue(); reason != "" {
		return nil, unhealthy(id, reason, r.GetProperties())
	}
	return &pulumirpc.CreateResponse{Id: id, Properties: r.GetProperties()}, nil
}

// unhealthy returns the error for an object that was made and is not healthy.
func unhealthy(id, reason string, properties *structpb.Struct) error {
	s, err := grpcstatus.New(codes.Unknown, "it did not come up").WithDetails(
		&pulumirpc.ErrorResourceInitFailed{Id: id, Reasons: []string{reason}, Properties: properties})
	if err != nil {
		return err
	}
	return s.Err()
}

// Invoke calls one of three functions: "echo" returns its arguments with a token, "refuses" refuses them and "fails" fails with them.
func (*fakeProvider) Invoke(_ context.Context, r *pulumirpc.InvokeRequest) (*pulumirpc.InvokeResponse, error) {
	switch r.GetTok() {
	case "fake:index:refuses":
		return &pulumirpc.InvokeResponse{Failures: []*pulumirpc.CheckFailure{{Property: "word", Reason: "no such word"}}}, nil
	case "fake:index:fails":
		return nil, fmt.Errorf("cannot sign in with %v", r.GetArgs().AsMap()["password"])
	}
	out := r.GetArgs()
	out.Fields["token"], out.Fields["undeclared"] = structpb.NewStringValue("echoed-token"), structpb.NewBoolValue(true)
	return &pulumirpc.InvokeResponse{Return: out}, nil
}

// List lists the objects, two on each page, with the names that begin with the query's prefix.
func (p *fakeProvider) List(r *pulumirpc.ListRequest, s grpc.ServerStreamingServer[pulumirpc.ListResponse]) error {
	at, page := 0, 2
	if _, err := fmt.Sscanf(r.GetContinuationToken(), "%d", &at); err != nil && r.GetContinuationToken() != "" {
		return err
	}
	var ids []string
	for _, path := range p.things() {
		if id := filepath.Base(path); strings.HasPrefix(id, r.GetQuery().GetFields()["prefix"].GetStringValue()) {
			ids = append(ids, id)
		}
	}
	next := ""
	for i := at; i < len(ids) && i < at+page; i++ {
		err := s.Send(&pulumirpc.ListResponse{Response: &pulumirpc.ListResponse_Result_{Result: &pulumirpc.ListResponse_Result{Id: ids[i], Name: "thing " + ids[i]}}})
		if err != nil {
			return err
		}
	}
	if at+page < len(ids) {
		next = fmt.Sprint(at + page)
	}
	return s.Send(&pulumirpc.ListResponse{Response: &pulumirpc.ListResponse_Continuation_{Continuation: &pulumirpc.ListResponse_Continuation{ContinuationToken: next}}})
}

// Read reads the inputs of an object from its file, which is JSON.
func (p *fakeProvider) Read(_ context.Context, r *pulumirpc.ReadRequest) (*pulumirpc.ReadResponse, error) {
	text, err := os.ReadFile(filepath.Join(p.dir, r.GetId()))
	if errors.Is(err, os.ErrNotExist) {
		return &pulumirpc.ReadResponse{}, nil
	}
	inputs := map[string]any{}
	if len(text) > 0 && err == nil {
		err = json.Unmarshal(text, &inputs)
	}
	if err != nil {
		return nil, err
	}
	properties, err := structpb.NewStruct(inputs)
	return &pulumirpc.ReadResponse{Id: r.GetId(), Inputs: properties, Properties: properties}, err
}

// GetSchema returns schema.json from the directory of the program.
func (*fakeProvider) GetSchema(context.Context, *pulumirpc.GetSchemaRequest) (*pulumirpc.GetSchemaResponse, error) {
	text, err := os.ReadFile("schema.json")
	return &pulumirpc.GetSchemaResponse{Schema: string(text)}, err
}

func (p *fakeProvider) things() []string {
	found, _ := filepath.Glob(filepath.Join(p.dir, "*"))
	return found
}

func (*fakeProvider) Update(_ context.Context, r *pulumirpc.UpdateRequest) (*pulumirpc.UpdateResponse, error) {
	return &pulumirpc.UpdateResponse{Properties: r.GetNews()}, nil
}

func (p *fakeProvider) Delete(_ context.Context, r *pulumirpc.DeleteRequest) (*emptypb.Empty, error) {
	return &emptypb.Empty{}, os.Remove(filepath.Join(p.dir, r.GetId()))
}

func (p *fakeProvider) Cancel(context.Context, *emptypb.Empty) (*emptypb.Empty, error) {
	p.cancel()
	return &emptypb.Empty{}, nil
}

// callEngine is a command that calls both services of the engine at an address, and prints the results.
func callEngine() {
	conn, err := grpc.NewClient(os.Args[1], grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		panic(err)
	}
	defer conn.Close()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	_, err = pulumirpc.NewResourceMonitorClient(conn).SupportsFeature(ctx, &pulumirpc.SupportsFeatureRequest{Id: "secrets"})
	fmt.Print("monitor: ", grpcstatus.Code(err))
	_, err = pulumirpc.NewEngineClient(conn).Log(ctx, &pulumirpc.LogRequest{Severity: pulumirpc.LogSeverity_INFO, Message: "I am here\n"})
	fmt.Print(", engine: ", grpcstatus.Code(err))
}
