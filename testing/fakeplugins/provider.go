package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	codegenrpc "github.com/pulumi/pulumi/sdk/v3/proto/go/codegen"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	grpcstatus "google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/structpb"
)

func serveProvider() {
	calls, cancel := context.WithCancel(context.Background())
	serve(func(s *grpc.Server) {
		pulumirpc.RegisterResourceProviderServer(s, &provider{dir: os.Getenv("FAKE_CLOUD"), calls: calls, cancel: cancel})
	})
}

// provider keeps its objects as files in a directory. A change of "region" requires a replacement, "slow" is the
// duration of a create, and "fail" makes it fail.
type provider struct {
	pulumirpc.UnimplementedResourceProviderServer
	dir  string
	told *pulumirpc.ProviderHandshakeRequest // nil for an older provider
	// calls is done when Cancel has been called.
	calls  context.Context
	cancel context.CancelFunc
}

// GetMappings returns the one provider of the other tool that this one has a mapping for.
func (*provider) GetMappings(_ context.Context, r *pulumirpc.GetMappingsRequest) (*pulumirpc.GetMappingsResponse, error) {
	if r.GetKey() != "fake" {
		return &pulumirpc.GetMappingsResponse{}, nil
	}
	return &pulumirpc.GetMappingsResponse{Providers: []string{"things"}}, nil
}

// GetMapping returns a mapping in the form of the fake converter, or the one for Terraform, whose provider has no name before this call.
func (*provider) GetMapping(_ context.Context, r *pulumirpc.GetMappingRequest) (*pulumirpc.GetMappingResponse, error) {
	if r.GetKey() == "terraform" && r.GetProvider() == "" {
		return &pulumirpc.GetMappingResponse{Provider: "tffake", Data: []byte("its names")}, nil
	}
	if r.GetKey() != "fake" || r.GetProvider() != "things" {
		return &pulumirpc.GetMappingResponse{}, nil
	}
	return &pulumirpc.GetMappingResponse{Provider: "things", Data: []byte(`{"thing": "fake:index:Thing"}`)}, nil
}

func (*provider) GetPluginInfo(context.Context, *emptypb.Empty) (*pulumirpc.PluginInfo, error) {
	return &pulumirpc.PluginInfo{Version: "1.0.0"}, nil
}

// Handshake stores the addresses of the services if FAKE_ASKS, the name of a package, is set. Without that it is an older
// provider.
func (p *provider) Handshake(
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
	conn := dial(mapper)
	defer conn.Close()
	answer, err := codegenrpc.NewMapperClient(conn).GetMapping(ctx, &codegenrpc.GetMappingRequest{Provider: "tf" + name, PulumiProvider: name})
	return fmt.Sprintf("%s mapped by %s", schema, answer.GetData()), err
}

// resolved requests the source of a package.
func resolved(ctx context.Context, resolver, text string) string {
	conn := dial(resolver)
	defer conn.Close()
	written, version, _ := strings.Cut(text, " ")
	is, err := pulumirpc.NewPackageResolverClient(conn).ResolvePackage(ctx, &pulumirpc.PackageSpec{Source: written, Version: version})
	if err != nil {
		return text + " is not: " + err.Error()
	}
	return fmt.Sprintf("%s is %s %s %s", text, is.GetKind(), is.GetName(), is.GetVersion())
}

// CheckConfig writes the source of the package FAKE_ASKS.
func (p *provider) CheckConfig(ctx context.Context, r *pulumirpc.CheckRequest) (*pulumirpc.CheckResponse, error) {
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

func (*provider) Configure(context.Context, *pulumirpc.ConfigureRequest) (*pulumirpc.ConfigureResponse, error) {
	return &pulumirpc.ConfigureResponse{AcceptSecrets: true, SupportsPreview: true, AcceptResources: true}, nil
}

func (*provider) Check(_ context.Context, r *pulumirpc.CheckRequest) (*pulumirpc.CheckResponse, error) {
	return &pulumirpc.CheckResponse{Inputs: r.GetNews()}, nil
}

func (*provider) Diff(_ context.Context, r *pulumirpc.DiffRequest) (*pulumirpc.DiffResponse, error) {
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

func (p *provider) Create(_ context.Context, r *pulumirpc.CreateRequest) (*pulumirpc.CreateResponse, error) {
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
func (*provider) Invoke(_ context.Context, r *pulumirpc.InvokeRequest) (*pulumirpc.InvokeResponse, error) {
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
func (p *provider) List(r *pulumirpc.ListRequest, s grpc.ServerStreamingServer[pulumirpc.ListResponse]) error {
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
func (p *provider) Read(_ context.Context, r *pulumirpc.ReadRequest) (*pulumirpc.ReadResponse, error) {
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
func (*provider) GetSchema(context.Context, *pulumirpc.GetSchemaRequest) (*pulumirpc.GetSchemaResponse, error) {
	text, err := os.ReadFile("schema.json")
	return &pulumirpc.GetSchemaResponse{Schema: string(text)}, err
}

func (p *provider) things() []string {
	found, _ := filepath.Glob(filepath.Join(p.dir, "*"))
	return found
}

func (*provider) Update(_ context.Context, r *pulumirpc.UpdateRequest) (*pulumirpc.UpdateResponse, error) {
	return &pulumirpc.UpdateResponse{Properties: r.GetNews()}, nil
}

func (p *provider) Delete(_ context.Context, r *pulumirpc.DeleteRequest) (*emptypb.Empty, error) {
	return &emptypb.Empty{}, os.Remove(filepath.Join(p.dir, r.GetId()))
}

func (p *provider) Cancel(context.Context, *emptypb.Empty) (*emptypb.Empty, error) {
	p.cancel()
	return &emptypb.Empty{}, nil
}
