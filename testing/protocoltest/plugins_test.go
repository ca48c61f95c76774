package protocoltest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/structpb"
)

// The plugins get their orders from, and write what happens into, files in the folder in this variable.
const folder = "PROBE_FOLDER"

func inFolder(name string) string { return filepath.Join(os.Getenv(folder), name) }

// servePlugin prints its port, as plugins do, and serves until it is killed.
func servePlugin(register func(*grpc.Server)) {
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
}

// note appends a line to a file of the folder.
func note(file string, entry map[string]any) {
	text, err := json.Marshal(entry)
	if err != nil {
		panic(err)
	}
	f, err := os.OpenFile(inFolder(file), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	if _, err := f.Write(append(text, '\n')); err != nil {
		panic(err)
	}
	if err := f.Close(); err != nil {
		panic(err)
	}
}

// plain returns a message as JSON has it.
func plain(m proto.Message) map[string]any {
	text, err := protojson.Marshal(m)
	if err != nil {
		panic(err)
	}
	var out map[string]any
	if err := json.Unmarshal(text, &out); err != nil {
		panic(err)
	}
	return out
}

// fill reads a message from what JSON has.
func fill(from map[string]any, m proto.Message) error {
	text, err := json.Marshal(from)
	if err != nil {
		return err
	}
	return protojson.Unmarshal(text, m)
}

// language runs programs, which are lists of requests.
type language struct {
	pulumirpc.UnimplementedLanguageRuntimeServer
	engine string
}

func serveLanguage() {
	h := &language{}
	for _, arg := range os.Args[1:] {
		if !strings.HasPrefix(arg, "-") {
			h.engine = arg
		}
	}
	servePlugin(func(s *grpc.Server) { pulumirpc.RegisterLanguageRuntimeServer(s, h) })
}

func (h *language) Handshake(_ context.Context, req *pulumirpc.LanguageHandshakeRequest) (*pulumirpc.LanguageHandshakeResponse, error) {
	if req.GetEngineAddress() != "" {
		h.engine = req.GetEngineAddress()
	}
	return &pulumirpc.LanguageHandshakeResponse{}, nil
}

func (h *language) GetPluginInfo(context.Context, *emptypb.Empty) (*pulumirpc.PluginInfo, error) {
	return &pulumirpc.PluginInfo{Version: "1.0.0"}, nil
}

func (h *language) GetRequiredPackages(context.Context, *pulumirpc.GetRequiredPackagesRequest) (*pulumirpc.GetRequiredPackagesResponse, error) {
	return &pulumirpc.GetRequiredPackagesResponse{}, nil
}

func (h *language) GetRequiredPlugins(context.Context, *pulumirpc.GetRequiredPluginsRequest) (*pulumirpc.GetRequiredPluginsResponse, error) {
	return &pulumirpc.GetRequiredPluginsResponse{}, nil
}

func (h *language) Cancel(context.Context, *emptypb.Empty) (*emptypb.Empty, error) {
	return &emptypb.Empty{}, nil
}

func (h *language) Run(ctx context.Context, req *pulumirpc.RunRequest) (*pulumirpc.RunResponse, error) {
	text, err := os.ReadFile(inFolder("program.json"))
	if err != nil {
		return nil, err
	}
	var requests []request
	if err := json.Unmarshal(text, &requests); err != nil {
		return nil, err
	}
	credentials := grpc.WithTransportCredentials(insecure.NewCredentials())
	monitor, err := grpc.NewClient(req.GetMonitorAddress(), credentials)
	if err != nil {
		return nil, err
	}
	defer func() { _ = monitor.Close() }()
	p := &program{monitor: monitor, preview: req.GetDryRun(), answers: map[string]any{}, callbacks: &callbacks{}}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p.target = l.Addr().String()
	s := grpc.NewServer()
	pulumirpc.RegisterCallbacksServer(s, p.callbacks)
	var serving sync.WaitGroup
	serving.Go(func() { _ = s.Serve(l) })
	defer serving.Wait()
	defer s.Stop()
	if err := p.run(ctx, req.GetProject()+"-"+req.GetStack(), requests); err != nil {
		return &pulumirpc.RunResponse{Error: err.Error()}, nil
	}
	return &pulumirpc.RunResponse{}, nil
}

// program is a run of a program.
type program struct {
	monitor   *grpc.ClientConn
	preview   bool
	target    string         // the address of callbacks
	answers   map[string]any // by the names of the requests
	callbacks *callbacks
}

func (p *program) run(ctx context.Context, stack string, requests []request) error {
	first := request{As: "stack", Call: "RegisterResource", Send: map[string]any{"type": "pulumi:pulumi:Stack", "name": stack, "parent": ""}}
	if err := p.send(ctx, first); err != nil {
		return err
	}
	for _, r := range requests {
		if r.Only == "preview" && !p.preview || r.Only == "update" && p.preview {
			continue
		}
		if err := p.send(ctx, r); err != nil && !r.Fails {
			return err
		}
	}
	if err := p.send(ctx, request{As: "outputs", Call: "RegisterResourceOutputs", Send: map[string]any{"urn": "${stack.urn}", "outputs": map[string]any{}}}); err != nil {
		return err
	}
	return p.send(ctx, request{As: "end", Call: "SignalAndWaitForShutdown"})
}

// defaults are what SDKs always send.
func (p *program) defaults(call string) map[string]any {
	switch call {
	case "RegisterResource":
		return map[string]any{
			"type": "probe:index:Res", "parent": "${stack.urn}", "custom": true, "acceptSecrets": true, "acceptResources": true,
			"supportsPartialValues": true, "aliasSpecs": true, "supportsResultReporting": true,
		}
	case "ReadResource":
		return map[string]any{"type": "probe:index:Res", "parent": "${stack.urn}", "acceptSecrets": true, "acceptResources": true}
	case "ExistsResource":
		return map[string]any{"type": "probe:index:Res"}
	case "Invoke":
		return map[string]any{"tok": "probe:index:echo", "acceptResources": true}
	case "Call":
		return map[string]any{"tok": "probe:index:Res/describe"}
	}
	return map[string]any{}
}

// send makes a request, and notes the answer.
func (p *program) send(ctx context.Context, r request) error {
	method := monitorMethod(r.Call)
	if method == nil {
		return fmt.Errorf("the monitor has no method %q", r.Call)
	}
	send := p.defaults(r.Call)
	for k, v := range r.Send {
		send[k] = v
	}
	if r.As == "stack" {
		send["custom"] = false
	}
	if len(r.Answers) > 0 {
		send["callback"] = map[string]any{"target": p.target, "token": r.As, "acceptsByteString": send["acceptsByteString"]}
		delete(send, "acceptsByteString")
		if send["callback"].(map[string]any)["acceptsByteString"] == nil {
			delete(send["callback"].(map[string]any), "acceptsByteString")
		}
		p.callbacks.add(r.As, r.Call, r.Answers)
	}
	var migrations []any
	for i, m := range r.Migrations {
		token := fmt.Sprintf("%s, migration %d", r.As, i+1)
		p.callbacks.migrate(token, m)
		migrations = append(migrations, map[string]any{"target": p.target, "token": token})
	}
	if migrations != nil {
		send["stateMigrations"] = migrations
	}
	send = expand(send, func(path string) (any, bool) { return dig(p.answers, path) }).(map[string]any)
	in, out := newMessage(method.Input()), newMessage(method.Output())
	if err := fill(send, in); err != nil {
		return fmt.Errorf("%s %s: %w", r.Call, r.As, err)
	}
	entry := map[string]any{"as": r.As, "call": r.Call, "preview": p.preview}
	err := p.monitor.Invoke(ctx, "/pulumirpc.ResourceMonitor/"+r.Call, in, out)
	if err != nil {
		entry["failed"] = true
		note("errors.log", map[string]any{"as": r.As, "error": err.Error()})
	} else {
		answer := plain(out)
		p.answers[r.As] = answer
		entry["answer"] = shorten(answer)
	}
	if r.As != "stack" && r.As != "outputs" && r.As != "end" {
		note("program.jsonl", entry)
	}
	return err
}

func monitorMethod(name string) protoreflect.MethodDescriptor {
	return pulumirpc.File_pulumi_resource_proto.Services().ByName("ResourceMonitor").Methods().ByName(protoreflect.Name(name))
}

// callbacks answers the engine's calls of what a program has registered.
type callbacks struct {
	pulumirpc.UnimplementedCallbacksServer
	mu    sync.Mutex
	calls map[string]string           // the method that registered each
	next  map[string][]map[string]any // the answers that are left
	edits map[string]stateMigration
}

func (c *callbacks) migrate(token string, m stateMigration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.edits == nil {
		c.edits = map[string]stateMigration{}
	}
	c.edits[token] = m
}

// edit answers the call of a state migration.
func (m stateMigration) edit(token string, request []byte) (*pulumirpc.CallbackInvokeResponse, error) {
	var in pulumirpc.StateMigrationRequest
	if err := proto.Unmarshal(request, &in); err != nil {
		return nil, err
	}
	var states []map[string]any
	if err := json.Unmarshal(in.GetOldState(), &states); err != nil {
		return nil, err
	}
	got := make([]any, len(states))
	for i, s := range states {
		got[i] = s
	}
	note("program.jsonl", map[string]any{"callback": token, "got": shorten(map[string]any{"urn": in.GetUrn(), "states": got})})
	if m.Fails {
		return nil, errors.New("the migration says no")
	}
	out := &pulumirpc.StateMigrationResponse{}
	if next, successors := m.apply(states); next != nil {
		text, err := json.Marshal(next)
		if err != nil {
			return nil, err
		}
		out.NewState, out.Successors = text, successors
	}
	encoded, err := proto.Marshal(out)
	return &pulumirpc.CallbackInvokeResponse{Response: encoded}, err
}

func (c *callbacks) add(token, call string, answers []map[string]any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.calls == nil {
		c.calls, c.next = map[string]string{}, map[string][]map[string]any{}
	}
	c.calls[token], c.next[token] = call, answers
}

func (c *callbacks) Invoke(_ context.Context, req *pulumirpc.CallbackInvokeRequest) (*pulumirpc.CallbackInvokeResponse, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if m, is := c.edits[req.GetToken()]; is {
		return m.edit(req.GetToken(), req.GetRequest())
	}
	var in, out proto.Message
	switch c.calls[req.GetToken()] {
	case "RegisterResourceHook":
		in, out = &pulumirpc.ResourceHookRequest{}, &pulumirpc.ResourceHookResponse{}
	case "RegisterErrorHook":
		in, out = &pulumirpc.ErrorHookRequest{}, &pulumirpc.ErrorHookResponse{}
	case "RegisterStackTransform":
		in, out = &pulumirpc.TransformRequest{}, &pulumirpc.TransformResponse{}
	default:
		return nil, fmt.Errorf("no callback %q", req.GetToken())
	}
	if err := proto.Unmarshal(req.GetRequest(), in); err != nil {
		return nil, err
	}
	got := plain(in)
	if list, is := got["errors"].([]any); is {
		got["errors"] = len(list) // their texts are not compared
	}
	note("program.jsonl", map[string]any{"callback": req.GetToken(), "got": shorten(got)})
	answers := c.next[req.GetToken()]
	if len(answers) > 1 {
		c.next[req.GetToken()] = answers[1:]
	}
	if err := fill(answers[0], out); err != nil {
		return nil, err
	}
	encoded, err := proto.Marshal(out)
	return &pulumirpc.CallbackInvokeResponse{Response: encoded}, err
}

func newMessage(d protoreflect.MessageDescriptor) proto.Message {
	switch d.FullName() {
	case "google.protobuf.Empty":
		return &emptypb.Empty{}
	case "google.protobuf.Struct":
		return &structpb.Struct{}
	}
	t, err := registry.FindMessageByName(d.FullName())
	if err != nil {
		panic(err)
	}
	return t.New().Interface()
}
