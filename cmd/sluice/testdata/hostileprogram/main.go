// Command hostileprogram is a program that does to the engine what no SDK does. It calls the monitor itself. The setting
// "attack" selects the attack; before it, the program always declares the root stack and the thing "made".
package main

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unicode/utf8"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/structpb"
)

func main() {
	p, err := connect()
	if err == nil {
		err = p.run()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// program is a client of the monitor.
type program struct {
	pulumirpc.ResourceMonitorClient
	conn     *grpc.ClientConn
	settings map[string]string
	root     string
}

func dial() (*grpc.ClientConn, error) {
	const limit = 1 << 30
	return grpc.NewClient(os.Getenv("PULUMI_MONITOR"), grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(limit), grpc.MaxCallSendMsgSize(limit)))
}

func connect() (*program, error) {
	p := &program{}
	var err error
	if p.conn, err = dial(); err != nil {
		return nil, err
	}
	p.ResourceMonitorClient = pulumirpc.NewResourceMonitorClient(p.conn)
	return p, json.Unmarshal([]byte(os.Getenv("PULUMI_CONFIG")), &p.settings)
}

var ctx = context.Background()

func (p *program) run() error {
	root, err := p.RegisterResource(ctx, &pulumirpc.RegisterResourceRequest{
		Type: "pulumi:pulumi:Stack", Name: os.Getenv("PULUMI_PROJECT") + "-" + os.Getenv("PULUMI_STACK"),
	})
	if err != nil {
		return err
	}
	p.root = root.GetUrn()
	made := p.thing("made")
	if pw := p.settings["demo:password"]; pw != "" {
		made.Object = &structpb.Struct{Fields: map[string]*structpb.Value{"password": secret(pw)}}
	}
	if _, err := p.register(made); err != nil {
		return err
	}
	name := p.settings["demo:attack"]
	attack, ok := attacks[name]
	if !ok {
		return fmt.Errorf("there is no attack %q", name)
	}
	return attack(p)
}

func (p *program) register(req *pulumirpc.RegisterResourceRequest) (*pulumirpc.RegisterResourceResponse, error) {
	return p.RegisterResource(ctx, req)
}

func (p *program) thing(name string) *pulumirpc.RegisterResourceRequest {
	return &pulumirpc.RegisterResourceRequest{Type: "simple:index:Thing", Name: name, Parent: p.root, Custom: true, AcceptSecrets: true}
}

func (p *program) component(name string) (string, error) {
	c, err := p.register(&pulumirpc.RegisterResourceRequest{Type: "demo:index:Group", Name: name, Parent: p.root})
	return c.GetUrn(), err
}

// number returns the setting "number", or n without one.
func (p *program) number(n int) int {
	if given, err := strconv.Atoi(p.settings["demo:number"]); err == nil {
		return given
	}
	return n
}

var attacks = map[string]func(*program) error{
	"none":               func(*program) error { return nil },
	"hang":               hang,
	"hang stubbornly":    func(p *program) error { signal.Ignore(syscall.SIGINT, syscall.SIGTERM); return hang(p) },
	"signal and hang":    signalAndHang,
	"end while parked":   endWhileParked,
	"same urn":           sameURN,
	"never read":         neverRead,
	"streams":            streams,
	"connections":        connections,
	"outputs":            outputs,
	"outputs at the end": outputsAtTheEnd,
	"too large":          tooLarge,
	"unknown services":   unknownServices,
	"packages":           packages,
	"signatures":         signatures,
	"flood":              flood,
	"log flood":          logFlood,
	"cut secrets":        cutSecrets,
	"callbacks":          callbacks,
	"huge log":           hugeLog,
	"big text names":     names,
	"invoke recursion":   invokeRecursion,
	"garbage bytes":      garbageBytes,
}

// hang waits for ever, after it has written a file.
func hang(*program) error {
	if err := os.WriteFile(filepath.Join(os.Getenv("HOME"), "hanging"), nil, 0o600); err != nil {
		return err
	}
	select {}
}

func signalAndHang(p *program) error {
	_, err := p.SignalAndWaitForShutdown(ctx, &emptypb.Empty{})
	fmt.Println("shut down:", err)
	return hang(p)
}

// endWhileParked ends as soon as the engine has received its requests.
func endWhileParked(p *program) error {
	for i := range p.number(50) {
		go func() { _, _ = p.register(p.thing(fmt.Sprint("parked-", i))) }()
	}
	time.Sleep(300 * time.Millisecond)
	return nil
}

func sameURN(p *program) error {
	var errs sync.Map
	var wg sync.WaitGroup
	for range p.number(10000) {
		wg.Go(func() {
			if _, err := p.register(p.thing("same")); err != nil {
				errs.Store(err.Error(), true)
			}
		})
	}
	wg.Wait()
	n := 0
	errs.Range(func(k, _ any) bool { n++; fmt.Println("got:", k); return n < 5 })
	return nil
}

// neverRead sends registrations and reads none of the replies: the window of the connection fills up.
func neverRead(p *program) error {
	for i := range p.number(100000) {
		stream, err := p.conn.NewStream(ctx, &grpc.StreamDesc{ClientStreams: true, ServerStreams: true}, pulumirpc.ResourceMonitor_RegisterResource_FullMethodName)
		if err != nil {
			return err
		}
		if err := stream.SendMsg(p.thing(fmt.Sprint("unread-", i))); err != nil {
			return err
		}
		_ = stream.CloseSend()
	}
	return hang(p)
}

// streams opens streams and sends nothing.
func streams(p *program) error {
	for range p.number(100000) {
		if _, err := p.conn.NewStream(ctx, &grpc.StreamDesc{ClientStreams: true}, pulumirpc.ResourceMonitor_RegisterResource_FullMethodName); err != nil {
			return err
		}
	}
	return hang(p)
}

// connections opens connections and sends nothing.
func connections(p *program) error {
	var all []net.Conn
	for range p.number(100000) {
		c, err := net.Dial("unix", strings.TrimPrefix(os.Getenv("PULUMI_MONITOR"), "unix://"))
		if err != nil {
			fmt.Println("after", len(all), "connections:", err)
			break
		}
		if p.settings["demo:preface"] != "" {
			_, _ = c.Write([]byte("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00"))
		}
		all = append(all, c)
	}
	return hang(p)
}

func outputs(p *program) error {
	group, err := p.component("group")
	if err != nil {
		return err
	}
	say := func(u string) {
		s, _ := structpb.NewStruct(map[string]any{"x": 1})
		_, err := p.RegisterResourceOutputs(ctx, &pulumirpc.RegisterResourceOutputsRequest{Urn: u, Outputs: s})
		fmt.Println("outputs:", err)
	}
	say(group)
	say(group)
	say(strings.ReplaceAll(group, "group", "nobody"))
	say(strings.ReplaceAll(p.root, "demo", "other"))
	say("")
	say("nonsense")
	say(strings.ReplaceAll(group, "demo:index:Group::group", "simple:index:Thing::made"))
	return nil
}

// outputsAtTheEnd goes on with outputs while the engine deletes.
func outputsAtTheEnd(p *program) error {
	var groups []string
	for i := range p.number(50) {
		group, err := p.component(fmt.Sprint("group-", i))
		if err != nil {
			return err
		}
		groups = append(groups, group)
	}
	go func() {
		for _, g := range groups {
			time.Sleep(20 * time.Millisecond)
			s, _ := structpb.NewStruct(map[string]any{"x": 1})
			_, err := p.RegisterResourceOutputs(ctx, &pulumirpc.RegisterResourceOutputsRequest{Urn: g, Outputs: s})
			fmt.Println("outputs:", err)
			_, err = p.register(p.thing("late-" + g[len(g)-2:]))
			fmt.Println("register:", err)
		}
	}()
	_, err := p.SignalAndWaitForShutdown(ctx, &emptypb.Empty{})
	return err
}

func tooLarge(p *program) error {
	req := p.thing("large")
	req.Object = &structpb.Struct{Fields: map[string]*structpb.Value{"x": structpb.NewStringValue(strings.Repeat("x", 500<<20))}}
	_, err := p.register(req)
	return err
}

func unknownServices(p *program) error {
	for _, method := range []string{"/pulumirpc.ResourceMonitor/Nothing", "/pulumirpc.Nothing/Nothing", "//", "/pulumirpc.ResourceProvider/Create"} {
		fmt.Println(method, p.conn.Invoke(ctx, method, &emptypb.Empty{}, &emptypb.Empty{}))
	}
	return nil
}

func packages(p *program) error {
	for _, r := range []*pulumirpc.RegisterPackageRequest{
		{}, {Name: "../../x"}, {Name: "simple", Version: "nonsense"}, {Name: "simple", DownloadUrl: "::::"},
		{Name: "simple", Parameterization: &pulumirpc.Parameterization{}},
		{Name: "simple", Parameterization: &pulumirpc.Parameterization{Name: "a/b", Version: "1.0.0", Value: make([]byte, 50<<20)}},
		{Name: "simple", Parameterization: &pulumirpc.Parameterization{Name: "other", Version: "1.0.0", Value: []byte{0xff}}},
		{Name: "simple", Extension: &pulumirpc.Parameterization{Name: "\x1b[31m", Version: "1.0.0"}},
	} {
		got, err := p.RegisterPackage(ctx, r)
		fmt.Println("package:", got.GetRef(), err)
	}
	req := p.thing("x")
	req.PackageRef = "nonsense"
	_, err := p.register(req)
	fmt.Println("register:", err)
	return nil
}

const signature = "4dabf18193072939515e22adb298388d"

func secret(text string) *structpb.Value {
	return structpb.NewStructValue(&structpb.Struct{Fields: map[string]*structpb.Value{
		signature: structpb.NewStringValue("1b47061264138c4ac30d75fd1eb44270"), "value": structpb.NewStringValue(text),
	}})
}

func signatures(p *program) error {
	for i, v := range []any{
		map[string]any{signature: 1},
		map[string]any{signature: "1b47061264138c4ac30d75fd1eb44270"},
		map[string]any{signature: "1b47061264138c4ac30d75fd1eb44270", "ciphertext": "v1:x:y"},
		map[string]any{signature: "d0e6a833031e9bbcd3f4e8bde6ca49a4", "dependencies": 4},
		map[string]any{signature: "d0e6a833031e9bbcd3f4e8bde6ca49a4", "value": 1, "dependencies": []any{"nonsense", 4}},
		map[string]any{signature: "5cf8f73096256a8f31e491e813e4eb8e", "urn": 5},
		map[string]any{signature: "5cf8f73096256a8f31e491e813e4eb8e", "urn": "nonsense"},
		map[string]any{signature: "c44067f5952c0a294b673a41bacd8c17"},
		map[string]any{signature: "c44067f5952c0a294b673a41bacd8c17", "path": "/etc/shadow"},
		map[string]any{signature: "0def7320c3a5731c473e5ecbe6d01bc7", "assets": map[string]any{"../x": 1}},
		map[string]any{signature: "nonsense", "value": 1},
	} {
		s, err := structpb.NewStruct(map[string]any{"x": v})
		if err != nil {
			return err
		}
		req := p.thing(fmt.Sprint("signed-", i))
		req.Object = s
		_, err = p.register(req)
		fmt.Println("register:", i, err)
	}
	return nil
}

func flood(p *program) error {
	line := []byte(strings.Repeat("flood ", 1000) + "\n")
	for range p.number(1000) << 20 / len(line) {
		if _, err := os.Stdout.Write(line); err != nil {
			return err
		}
	}
	return nil
}

// cutSecrets writes lines that are cut within a secret, at each of its characters and in each of its forms.
func cutSecrets(p *program) error {
	e, err := p.engine()
	if err != nil {
		return err
	}
	password := p.settings["demo:password"]
	quoted, err := json.Marshal(password)
	if err != nil {
		return err
	}
	for _, form := range []string{
		password, string(quoted[1 : len(quoted)-1]), strings.Trim(strconv.Quote(password), `"`), url.QueryEscape(password),
		hex.EncodeToString([]byte(password)), base64.StdEncoding.EncodeToString([]byte(password)),
		base64.StdEncoding.EncodeToString([]byte("." + password)), base64.RawURLEncoding.EncodeToString([]byte(".." + password)),
	} {
		for at := range len(form) + 1 {
			const cut = 64 << 10
			line := "<" + strings.Repeat(".", cut-1-at) + form + ".>\n"
			fmt.Fprint(os.Stdout, line)
			fmt.Fprint(os.Stderr, line)
			if !utf8.RuneStart(line[cut]) {
				continue // not a valid message
			}
			for _, piece := range []string{"<" + line[cut-10-at:cut], line[cut:]} {
				if _, err := e.Log(ctx, &pulumirpc.LogRequest{Severity: pulumirpc.LogSeverity_INFO, Message: piece, StreamId: 7}); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (p *program) engine() (pulumirpc.EngineClient, error) {
	conn, err := grpc.NewClient(os.Getenv("PULUMI_ENGINE"), grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallSendMsgSize(1<<30)))
	return pulumirpc.NewEngineClient(conn), err
}

func logFlood(p *program) error {
	e, err := p.engine()
	if err != nil {
		return err
	}
	text := strings.Repeat("flood ", 1000)
	for i := range p.number(100000) {
		if _, err := e.Log(ctx, &pulumirpc.LogRequest{Severity: pulumirpc.LogSeverity(i % 5), Message: text, Urn: p.root}); err != nil {
			return err
		}
	}
	return nil
}

func hugeLog(p *program) error {
	e, err := p.engine()
	if err != nil {
		return err
	}
	_, err = e.Log(ctx, &pulumirpc.LogRequest{Severity: pulumirpc.LogSeverity_ERROR, Message: strings.Repeat("huge ", 60<<20), Urn: p.root})
	return err
}

func names(p *program) error {
	for i, name := range []string{"", "a\nb", "\x1b[31mred", strings.Repeat("n", 10<<20), "a::b", "a$b", "..", "\u202egnp"} {
		_, err := p.register(p.thing(name))
		text := fmt.Sprint(err)
		fmt.Println("name:", i, text[:min(len(text), 200)])
	}
	return nil
}

func garbageBytes(p *program) error {
	for _, b := range [][]byte{{0xff, 0xff}, {0x0a, 0x02, 0xff, 0xfe}, deepStruct(10000)} {
		var out []byte
		err := p.conn.Invoke(ctx, pulumirpc.ResourceMonitor_RegisterResource_FullMethodName, &b, &out, grpc.ForceCodec(bytesCodec{}))
		fmt.Println("bytes:", err)
	}
	return nil
}

type bytesCodec struct{}

func (bytesCodec) Marshal(v any) ([]byte, error)      { return *v.(*[]byte), nil }
func (bytesCodec) Unmarshal(data []byte, v any) error { *v.(*[]byte) = data; return nil }
func (bytesCodec) Name() string                       { return "proto" }

// deepStruct is a RegisterResourceRequest with properties nested n deep.
func deepStruct(n int) []byte {
	b, err := proto.Marshal(&pulumirpc.RegisterResourceRequest{Type: "simple:index:Thing", Name: "deep", Custom: true, Object: deep(n)})
	if err != nil {
		panic(err)
	}
	return b
}

func deep(n int) *structpb.Struct {
	v := structpb.NewStringValue("x")
	for range n {
		v = structpb.NewListValue(&structpb.ListValue{Values: []*structpb.Value{v}})
	}
	return &structpb.Struct{Fields: map[string]*structpb.Value{"deep": v}}
}

// callbackServer answers callbacks according to the setting "answer".
type callbackServer struct {
	pulumirpc.UnimplementedCallbacksServer
	p     *program
	calls atomic.Int64
}

func (s *callbackServer) Invoke(ctx context.Context, req *pulumirpc.CallbackInvokeRequest) (*pulumirpc.CallbackInvokeResponse, error) {
	n := s.calls.Add(1)
	kind := req.GetToken()
	reply := func(o *structpb.Struct) (*pulumirpc.CallbackInvokeResponse, error) {
		var m proto.Message = &pulumirpc.TransformResponse{Properties: o}
		if kind == "invoke" {
			m = &pulumirpc.TransformInvokeResponse{Args: o}
		}
		b, err := proto.Marshal(m)
		return &pulumirpc.CallbackInvokeResponse{Response: b}, err
	}
	depth, _ := strconv.Atoi(s.p.settings["demo:depth"])
	switch s.p.settings["demo:answer"] {
	case "never":
		return nil, hang(s.p)
	case "garbage":
		return &pulumirpc.CallbackInvokeResponse{Response: []byte("garbage")}, nil
	case "deep":
		return reply(deep(depth))
	case "invalid utf-8":
		b, err := proto.Marshal(&pulumirpc.TransformResponse{Properties: &structpb.Struct{Fields: map[string]*structpb.Value{"x": structpb.NewStringValue("abcd")}}})
		return &pulumirpc.CallbackInvokeResponse{Response: []byte(strings.ReplaceAll(string(b), "abcd", "ab\xff\xfe"))}, err
	case "huge":
		return reply(&structpb.Struct{Fields: map[string]*structpb.Value{"x": structpb.NewStringValue(strings.Repeat("x", 500<<20))}})
	case "huge error":
		b, err := proto.Marshal(&pulumirpc.ResourceHookResponse{Error: strings.Repeat("x", s.p.number(100)<<20)})
		return &pulumirpc.CallbackInvokeResponse{Response: b}, err
	case "huge status":
		return nil, errors.New(strings.Repeat("x", s.p.number(10)<<20))
	case "die":
		os.Exit(3)
	case "retry":
		b, err := proto.Marshal(&pulumirpc.ErrorHookResponse{Retry: true})
		return &pulumirpc.CallbackInvokeResponse{Response: b}, err
	case "recurse":
		if kind == "invoke" {
			_, err := s.p.Invoke(ctx, &pulumirpc.ResourceInvokeRequest{Tok: "simple:index:echo"})
			return &pulumirpc.CallbackInvokeResponse{}, err
		}
		_, err := s.p.register(s.p.thing(fmt.Sprint("again-", n)))
		if err != nil {
			return nil, err
		}
		return &pulumirpc.CallbackInvokeResponse{}, nil
	}
	return &pulumirpc.CallbackInvokeResponse{}, nil
}

func (p *program) serveCallbacks() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	s := grpc.NewServer(grpc.MaxRecvMsgSize(1<<30), grpc.MaxSendMsgSize(1<<30))
	pulumirpc.RegisterCallbacksServer(s, &callbackServer{p: p})
	go func() { _ = s.Serve(l) }()
	return l.Addr().String(), nil
}

// callbacks registers a callback of the kind in the setting "kind", and makes the engine call it.
func callbacks(p *program) error {
	at, err := p.serveCallbacks()
	if err != nil {
		return err
	}
	kind := p.settings["demo:kind"]
	cb := &pulumirpc.Callback{Target: at, Token: kind}
	req := p.thing("called")
	switch kind {
	case "stack":
		_, err = p.RegisterStackTransform(ctx, cb)
	case "transform":
		req.Transforms = append(req.Transforms, cb)
	case "invoke":
		_, err = p.RegisterStackInvokeTransform(ctx, cb)
		if err != nil {
			return err
		}
		_, err := p.Invoke(ctx, &pulumirpc.ResourceInvokeRequest{Tok: "simple:index:echo"})
		fmt.Println("invoke:", err)
		return err
	case "error":
		_, err = p.RegisterErrorHook(ctx, &pulumirpc.RegisterErrorHookRequest{Name: "hook", Callback: cb})
		req.Hooks = &pulumirpc.RegisterResourceRequest_ResourceHooksBinding{OnError: []string{"hook"}}
	case "before":
		_, err = p.RegisterResourceHook(ctx, &pulumirpc.RegisterResourceHookRequest{Name: "hook", Callback: cb, OnDryRun: false})
		req.Hooks = &pulumirpc.RegisterResourceRequest_ResourceHooksBinding{BeforeCreate: []string{"hook"}}
	case "after":
		_, err = p.RegisterResourceHook(ctx, &pulumirpc.RegisterResourceHookRequest{Name: "hook", Callback: cb})
		req.Hooks = &pulumirpc.RegisterResourceRequest_ResourceHooksBinding{AfterCreate: []string{"hook"}}
	}
	if err != nil {
		return err
	}
	_, err = p.register(req)
	text := fmt.Sprint(err)
	fmt.Println("register:", text[:min(len(text), 300)])
	return nil
}

func invokeRecursion(p *program) error {
	p.settings["demo:kind"] = "invoke"
	p.settings["demo:answer"] = "recurse"
	return callbacks(p)
}
