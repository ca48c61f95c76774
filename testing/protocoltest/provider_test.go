package protocoltest

import (
	"context"
	"encoding/json"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/known/emptypb"
)

var registry = protoregistry.GlobalTypes

// provider is the plugin "probe". It notes each call, and answers with what it got, unless the step says something else.
type provider struct {
	pulumirpc.UnimplementedResourceProviderServer
	mu   sync.Mutex
	used map[int]int // how often each behavior was used
	tag  any         // from the configuration; it is noted with each call
}

func serveProvider() {
	p := &provider{used: map[int]int{}}
	servePlugin(func(s *grpc.Server) { pulumirpc.RegisterResourceProviderServer(s, p) })
}

// answer notes a call, and fills out with the usual answer, with what the step says in place of it.
func (p *provider) answer(method, name string, in, out proto.Message, usual map[string]any) error {
	entry := map[string]any{"method": method, "got": shorten(plain(in))}
	if p.tag != nil && !oncePerProcess[method] {
		entry["tag"] = p.tag
	}
	note("calls.jsonl", entry)
	id, _ := entry["got"].(map[string]any)["id"].(string)
	b, err := p.behavior(method, name, id)
	if err != nil {
		return err
	}
	if b != nil && b.Error != nil {
		return b.Error.status()
	}
	if b != nil {
		usual = maps.Clone(usual)
		maps.Copy(usual, expand(b.Answer, func(string) (any, bool) { return nil, false }).(map[string]any))
	}
	return fill(usual, out)
}

// behavior returns the first one that fits a call; nil for none. How often each was used is counted over all processes of the provider.
func (p *provider) behavior(method, name, id string) (*behavior, error) {
	text, err := os.ReadFile(inFolder("behavior.json"))
	if err != nil {
		return nil, err
	}
	var all []behavior
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, b := range all {
		if b.Method != method || b.Name != "" && b.Name != name || b.ID != "" && b.ID != id || b.Times > 0 && p.used[i] >= b.Times {
			continue
		}
		p.used[i]++
		return &b, nil
	}
	return nil, nil
}

func (f *failure) status() error {
	s := status.New(codes.Unknown, f.Message)
	var err error
	if f.Init != nil {
		detail := &pulumirpc.ErrorResourceInitFailed{}
		if err := fill(f.Init, detail); err != nil {
			return err
		}
		s, err = s.WithDetails(detail)
	}
	if f.Await {
		s, err = s.WithDetails(&pulumirpc.ErrorResourceAwaitFailed{})
	}
	if err != nil {
		return err
	}
	return s.Err()
}

func nameOf(urn string) string { return urn[strings.LastIndex(urn, "::")+2:] }

func (p *provider) Handshake(_ context.Context, req *pulumirpc.ProviderHandshakeRequest) (*pulumirpc.ProviderHandshakeResponse, error) {
	out := &pulumirpc.ProviderHandshakeResponse{}
	return out, p.answer("Handshake", "", req, out, map[string]any{"acceptSecrets": true, "acceptResources": true, "acceptOutputs": true})
}

func (p *provider) GetPluginInfo(context.Context, *emptypb.Empty) (*pulumirpc.PluginInfo, error) {
	return &pulumirpc.PluginInfo{Version: "1.0.0"}, nil
}

func (p *provider) GetSchema(context.Context, *pulumirpc.GetSchemaRequest) (*pulumirpc.GetSchemaResponse, error) {
	return &pulumirpc.GetSchemaResponse{Schema: `{"name": "probe", "version": "1.0.0"}`}, nil
}

func (p *provider) Attach(context.Context, *pulumirpc.PluginAttach) (*emptypb.Empty, error) {
	return &emptypb.Empty{}, nil
}

func (p *provider) Cancel(context.Context, *emptypb.Empty) (*emptypb.Empty, error) {
	return &emptypb.Empty{}, nil
}

func (p *provider) CheckConfig(_ context.Context, req *pulumirpc.CheckRequest) (*pulumirpc.CheckResponse, error) {
	out := &pulumirpc.CheckResponse{}
	return out, p.answer("CheckConfig", nameOf(req.GetUrn()), req, out, map[string]any{"inputs": plain(req.GetNews())})
}

func (p *provider) DiffConfig(_ context.Context, req *pulumirpc.DiffRequest) (*pulumirpc.DiffResponse, error) {
	out := &pulumirpc.DiffResponse{}
	return out, p.answer("DiffConfig", nameOf(req.GetUrn()), req, out, map[string]any{"changes": "DIFF_NONE"})
}

func (p *provider) Configure(_ context.Context, req *pulumirpc.ConfigureRequest) (*pulumirpc.ConfigureResponse, error) {
	out := &pulumirpc.ConfigureResponse{}
	p.tag = plain(req.GetArgs())["tag"] // before any other call
	return out, p.answer("Configure", "", req, out, map[string]any{"acceptSecrets": true, "acceptResources": true, "acceptOutputs": true, "supportsPreview": true})
}

func (p *provider) Check(_ context.Context, req *pulumirpc.CheckRequest) (*pulumirpc.CheckResponse, error) {
	out := &pulumirpc.CheckResponse{}
	return out, p.answer("Check", req.GetName(), req, out, map[string]any{"inputs": plain(req.GetNews())})
}

// Diff finds each input that is another one. Those whose names begin with "immutable" replace the resource.
func (p *provider) Diff(_ context.Context, req *pulumirpc.DiffRequest) (*pulumirpc.DiffResponse, error) {
	old, now := plain(req.GetOldInputs()), plain(req.GetNews())
	changes, diffs, replaces := "DIFF_NONE", []string{}, []string{}
	all := maps.Clone(old)
	maps.Copy(all, now)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if reflect.DeepEqual(old[name], now[name]) {
			continue
		}
		changes, diffs = "DIFF_SOME", append(diffs, name)
		if strings.HasPrefix(name, "immutable") {
			replaces = append(replaces, name)
		}
	}
	out := &pulumirpc.DiffResponse{}
	return out, p.answer("Diff", req.GetName(), req, out, map[string]any{"changes": changes, "diffs": diffs, "replaces": replaces})
}

func (p *provider) Create(_ context.Context, req *pulumirpc.CreateRequest) (*pulumirpc.CreateResponse, error) {
	out := &pulumirpc.CreateResponse{}
	usual := map[string]any{"properties": plain(req.GetProperties())}
	if !req.GetPreview() {
		usual["id"] = req.GetName() + "-id"
	}
	return out, p.answer("Create", req.GetName(), req, out, usual)
}

func (p *provider) Update(_ context.Context, req *pulumirpc.UpdateRequest) (*pulumirpc.UpdateResponse, error) {
	out := &pulumirpc.UpdateResponse{}
	return out, p.answer("Update", req.GetName(), req, out, map[string]any{"properties": plain(req.GetNews())})
}

func (p *provider) Delete(_ context.Context, req *pulumirpc.DeleteRequest) (*emptypb.Empty, error) {
	out := &emptypb.Empty{}
	return out, p.answer("Delete", req.GetName(), req, out, map[string]any{})
}

func (p *provider) Read(_ context.Context, req *pulumirpc.ReadRequest) (*pulumirpc.ReadResponse, error) {
	out := &pulumirpc.ReadResponse{}
	properties := plain(req.GetProperties())
	if len(properties) == 0 {
		properties = plain(req.GetInputs()) // of an import, and of a question whether it exists
	}
	return out, p.answer("Read", req.GetName(), req, out, map[string]any{
		"id": req.GetId(), "properties": properties, "inputs": plain(req.GetInputs()),
	})
}

func (p *provider) Invoke(_ context.Context, req *pulumirpc.InvokeRequest) (*pulumirpc.InvokeResponse, error) {
	out := &pulumirpc.InvokeResponse{}
	return out, p.answer("Invoke", req.GetTok(), req, out, map[string]any{"return": plain(req.GetArgs())})
}

func (p *provider) Call(_ context.Context, req *pulumirpc.CallRequest) (*pulumirpc.CallResponse, error) {
	out := &pulumirpc.CallResponse{}
	return out, p.answer("Call", req.GetTok(), req, out, map[string]any{"return": plain(req.GetArgs())})
}

// Construct makes a component with a child that has its inputs.
func (p *provider) Construct(ctx context.Context, req *pulumirpc.ConstructRequest) (*pulumirpc.ConstructResponse, error) {
	out := &pulumirpc.ConstructResponse{}
	conn, err := grpc.NewClient(req.GetMonitorEndpoint(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close() }()
	monitor := pulumirpc.NewResourceMonitorClient(conn)
	register := func(r *pulumirpc.RegisterResourceRequest) (*pulumirpc.RegisterResourceResponse, error) {
		r.AcceptSecrets, r.AcceptResources, r.SupportsPartialValues, r.AliasSpecs, r.SupportsResultReporting = true, true, true, true, true
		return monitor.RegisterResource(ctx, r)
	}
	component, err := register(&pulumirpc.RegisterResourceRequest{Type: req.GetType(), Name: req.GetName(), Parent: req.GetParent()})
	if err != nil {
		return nil, err
	}
	child, err := register(&pulumirpc.RegisterResourceRequest{
		Type: "probe:index:Res", Name: req.GetName() + "-child", Parent: component.GetUrn(), Custom: true, Object: req.GetInputs(),
	})
	if err != nil {
		return nil, err
	}
	_, err = monitor.RegisterResourceOutputs(ctx, &pulumirpc.RegisterResourceOutputsRequest{Urn: component.GetUrn()})
	if err != nil {
		return nil, err
	}
	return out, p.answer("Construct", req.GetName(), req, out, map[string]any{"urn": component.GetUrn(), "state": map[string]any{"child": child.GetUrn()}})
}

// fileURL returns the URL of a folder.
func fileURL(path string) string {
	return (&url.URL{Scheme: "file", Path: filepath.ToSlash(path)}).String()
}
