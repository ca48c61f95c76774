package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/internal/serve"
	"github.com/sluice-iac/sluice/providers/providertest"
	"github.com/sluice-iac/sluice/urn"
)

// provider is the cloud's provider with its configuration. Until it is configured it has the default cloud.
type provider struct {
	providers.Provider
	settings atomic.Pointer[settings]
	inner    atomic.Pointer[providers.Provider]
	serves   atomic.Pointer[parameterized] // nil for the package "simple"
}

// settings are the parts of the configuration that do not concern the cloud.
type settings struct {
	malformed             string
	huge                  int
	crashOn, crashAfterOn string
	hangOn                string
	waitOn, waitFor       string
	tellOn                string
	views                 bool
	gauge                 gauge
}

// gauge counts the calls of a method that are under way.
type gauge struct {
	method string // "" is none
	most   int64
	now    atomic.Int64
}

// enter refuses a call if there are too many of its method.
func (g *gauge) enter(method string) (leave func(), err error) {
	if method != g.method {
		return func() {}, nil
	}
	if g.now.Add(1) > g.most {
		g.now.Add(-1)
		return nil, status.Errorf(codes.ResourceExhausted, "Throttling: Rate exceeded, %d calls of %s are under way", g.most, method)
	}
	return func() { g.now.Add(-1) }, nil
}

func newProvider() *provider {
	p := &provider{}
	p.settings.Store(&settings{})
	p.use(providertest.NewCloud(providertest.Options{}))
	return p
}

func (p *provider) use(c *providertest.Cloud) {
	inner := c.Provider(providertest.DefaultPackage)
	p.inner.Store(&inner)
}

func (p *provider) cloud() providers.Provider { return *p.inner.Load() }

// config reads settings that may be numbers or strings.
type config struct {
	m   property.Map
	err error
}

func (c *config) text(name string) string {
	v, _ := c.m.At(name).Unwrap()
	if v.IsNumber() {
		return strconv.FormatFloat(v.AsNumber(), 'f', -1, 64)
	}
	if v.IsBool() {
		return strconv.FormatBool(v.AsBool())
	}
	return v.AsString()
}

func (c *config) number(name string) int {
	text := c.text(name)
	if text == "" {
		return 0
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		c.err = errors.Join(c.err, fmt.Errorf("the setting %q must be a whole number, not %q", name, text))
	}
	return n
}

// throttled reads the setting throttleAt.
func (c *config) throttled() (method string, most int64) {
	method, number, ok := strings.Cut(c.text("throttleAt"), " ")
	if !ok {
		return "", 0
	}
	most, err := strconv.ParseInt(number, 10, 64)
	if err != nil {
		c.err = errors.Join(c.err, fmt.Errorf(`the setting "throttleAt" must be "<method> <n>", not %q`, c.text("throttleAt")))
	}
	return method, most
}

func (c *config) failure(name string) (providertest.Failure, bool) {
	method, resource, _ := strings.Cut(c.text(name), " ")
	return providertest.Failure{Method: providers.Method(method), Name: resource, Update: method == "create"}, method != ""
}

func (p *provider) Configure(_ context.Context, req providers.ConfigureRequest) error {
	c := &config{m: req.Inputs}
	o := providertest.Options{
		Seed:       uint64(c.number("seed")),
		MaxLatency: time.Duration(c.number("delayMs")) * time.Millisecond,
	}
	o.MinLatency = o.MaxLatency
	o.Late = time.Duration(c.number("lateMs")) * time.Millisecond
	if c.text("minDelayMs") != "" {
		o.MinLatency = time.Duration(c.number("minDelayMs")) * time.Millisecond
	}
	if f, ok := c.failure("failOn"); ok {
		o.Failures = append(o.Failures, f)
	}
	if f, ok := c.failure("uncertainOn"); ok {
		f.Err = status.Error(codes.Internal, "the cloud lost the connection")
		o.Failures = append(o.Failures, f)
	}
	if f, ok := c.failure("hangOn"); ok {
		f.Hang = true
		o.Failures = append(o.Failures, f)
	}
	if directory := c.text("directory"); directory != "" {
		table, err := providertest.OpenDirectory(directory)
		c.err = errors.Join(c.err, err)
		o.Table = table
	}
	s := &settings{
		hangOn: c.text("hangOn"), waitOn: c.text("waitOn"), waitFor: c.text("waitFor"), tellOn: c.text("tellOn"), malformed: c.text("malformed"), huge: c.number("hugeBytes"), crashOn: c.text("crashOn"), crashAfterOn: c.text("crashAfter"),
		views: c.text("views") == "true",
	}
	s.gauge.method, s.gauge.most = c.throttled()
	if c.err != nil {
		return c.err
	}
	if c.text("missingKeys") == "true" {
		return missingKeys()
	}
	p.settings.Store(s)
	p.use(providertest.NewCloud(o))
	return nil
}

// names reports whether a setting names this call.
func names(setting, method, name string) bool {
	return setting != "" && (setting == method || setting == method+" "+name)
}

// crash ends the process if the setting names this call.
func crash(setting, method, name string) {
	if names(setting, method, name) {
		fmt.Fprintf(os.Stderr, "panic: the provider crashes in %s %s\n", method, name)
		os.Exit(2)
	}
}

// waitFor waits until a file exists, or the call is over.
func waitFor(ctx context.Context, file string) {
	for ctx.Err() == nil {
		if _, err := os.Stat(file); err == nil {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// tell fails with the inputs of the call if the setting names it.
func (p *provider) tell(method, name string, inputs property.Map) error {
	if on := p.settings.Load().tellOn; on != method+" "+name {
		return nil
	}
	text, err := property.MarshalStruct(inputs.StripSecretsAndOutputs(), property.WireOptions{})
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "%s\n", base64.StdEncoding.EncodeToString([]byte(text.String())))
	return status.Errorf(codes.InvalidArgument, "the cloud does not like %v or %x", text.AsMap(), text.String())
}

// around runs one call of the cloud with the configured crashes.
func around[Req, Resp any](
	ctx context.Context, p *provider, method, name string, f func(context.Context, Req) (Resp, error), req Req,
) (Resp, error) {
	s := p.settings.Load()
	crash(s.crashOn, method, name)
	leave, err := s.gauge.enter(method)
	if err != nil {
		var none Resp
		return none, err
	}
	defer leave()
	if names(s.waitOn, method, name) {
		waitFor(ctx, s.waitFor)
	}
	if names(s.hangOn, method, name) {
		fmt.Fprintf(os.Stderr, "%s %s hangs\n", method, name)
	}
	answer, err := f(ctx, req)
	crash(s.crashAfterOn, method, name)
	return answer, err
}

func (p *provider) Package() string { return providertest.DefaultPackage }

func (p *provider) CheckConfig(ctx context.Context, req providers.CheckRequest) (providers.CheckResponse, error) {
	return p.cloud().CheckConfig(ctx, req)
}

func (p *provider) DiffConfig(ctx context.Context, req providers.DiffRequest) (providers.DiffResponse, error) {
	return p.cloud().DiffConfig(ctx, req)
}

func (p *provider) Check(ctx context.Context, req providers.CheckRequest) (providers.CheckResponse, error) {
	return around(ctx, p, "check", req.URN.Name(), p.cloud().Check, req)
}

func (p *provider) Diff(ctx context.Context, req providers.DiffRequest) (providers.DiffResponse, error) {
	return around(ctx, p, "diff", req.URN.Name(), p.cloud().Diff, req)
}

func (p *provider) Create(ctx context.Context, req providers.CreateRequest) (providers.CreateResponse, error) {
	if err := p.show(ctx, req.Status, req.Name, nil, &req.Properties); err != nil {
		return providers.CreateResponse{}, err
	}
	if req.Preview {
		return p.cloud().Create(ctx, req)
	}
	if err := p.tell("create", req.Name, req.Properties); err != nil {
		return providers.CreateResponse{}, err
	}
	answer, err := around(ctx, p, "create", req.URN.Name(), p.cloud().Create, req)
	if n := p.settings.Load().huge; n > 0 && err == nil {
		answer.Properties = answer.Properties.With("huge", property.String(strings.Repeat("x", n)))
	}
	return answer, err
}

func (p *provider) Read(ctx context.Context, req providers.ReadRequest) (providers.ReadResponse, error) {
	return around(ctx, p, "read", req.URN.Name(), p.cloud().Read, req)
}

func (p *provider) Update(ctx context.Context, req providers.UpdateRequest) (providers.UpdateResponse, error) {
	if err := p.show(ctx, req.Status, req.Name, req.OldViews, &req.NewInputs); err != nil {
		return providers.UpdateResponse{}, err
	}
	if req.Preview {
		return p.cloud().Update(ctx, req)
	}
	if err := p.tell("update", req.Name, req.NewInputs); err != nil {
		return providers.UpdateResponse{}, err
	}
	return around(ctx, p, "update", req.URN.Name(), p.cloud().Update, req)
}

func (p *provider) Delete(ctx context.Context, req providers.DeleteRequest) error {
	if err := p.show(ctx, req.Status, req.Name, req.OldViews, nil); err != nil {
		return err
	}
	if err := p.tell("delete", req.Name, req.Inputs); err != nil {
		return err
	}
	_, err := around(ctx, p, "delete", req.URN.Name(),
		func(ctx context.Context, req providers.DeleteRequest) (struct{}, error) {
			return struct{}{}, p.cloud().Delete(ctx, req)
		}, req)
	return err
}

func (p *provider) Invoke(ctx context.Context, req providers.InvokeRequest) (providers.InvokeResponse, error) {
	return p.cloud().Invoke(ctx, req)
}

func (p *provider) Call(ctx context.Context, req providers.CallRequest) (providers.CallResponse, error) {
	return p.cloud().Call(ctx, req)
}

func (p *provider) Cancel(ctx context.Context) error { return p.cloud().Cancel(ctx) }

func (p *provider) Close() error { return p.cloud().Close() }

// Construct makes a component of any type, for example "simple:index:Group". Its input "count" is the number of its
// children: Things with the names "<name>-0" and so on, each with the component's other inputs. Its output "ids" are
// theirs.
func (p *provider) Construct(ctx context.Context, req providers.ConstructRequest) (providers.ConstructResponse, error) {
	address, err := req.Deployment.MonitorAddress()
	if err != nil {
		return providers.ConstructResponse{}, err
	}
	conn, err := grpc.NewClient("passthrough:///"+address,
		grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return providers.ConstructResponse{}, err
	}
	defer func() { _ = conn.Close() }()
	monitor := pulumirpc.NewResourceMonitorClient(conn)

	component, err := monitor.RegisterResource(ctx, &pulumirpc.RegisterResourceRequest{
		Type: string(req.Type), Name: req.Name, Parent: string(req.Parent), AcceptSecrets: true, AcceptResources: true,
		Object: &structpb.Struct{}, SupportsPartialValues: true,
	})
	if err != nil {
		return providers.ConstructResponse{}, err
	}
	u := urn.URN(component.GetUrn())
	count, _ := req.Inputs.At("count").Unwrap()
	object, err := property.MarshalStruct(req.Inputs.Without("count").DowngradeOutputs(), serve.Wire())
	if err != nil {
		return providers.ConstructResponse{}, err
	}
	var ids []property.Value
	var dependencies []urn.URN
	for n := range int(count.AsNumber()) {
		child, err := monitor.RegisterResource(ctx, &pulumirpc.RegisterResourceRequest{
			Type: "simple:index:Thing", Name: fmt.Sprintf("%s-%d", req.Name, n), Parent: string(u), Custom: true, Object: object,
			AcceptSecrets: true, AcceptResources: true, SupportsPartialValues: true, Provider: req.Providers["simple"],
		})
		if err != nil {
			return providers.ConstructResponse{}, err
		}
		id := property.String(child.GetId())
		if child.GetId() == "" {
			id = property.Computed()
		}
		ids = append(ids, id)
		dependencies = append(dependencies, urn.URN(child.GetUrn()))
	}
	outputs := property.NewMap(map[string]property.Value{"ids": property.ArrayOf(ids...)})
	state, err := property.MarshalStruct(outputs, serve.Wire())
	if err != nil {
		return providers.ConstructResponse{}, err
	}
	_, err = monitor.RegisterResourceOutputs(ctx, &pulumirpc.RegisterResourceOutputsRequest{Urn: string(u), Outputs: state})
	return providers.ConstructResponse{
		URN: u, Outputs: outputs, OutputDependency: map[string][]urn.URN{"ids": dependencies},
	}, err
}

// show publishes a view of a resource if the configuration requires it: a view with the resource's inputs and name. inputs
// is nil for a resource that is deleted.
func (p *provider) show(ctx context.Context, s providers.Status, name string, olds []providers.View, inputs *property.Map) error {
	if s == nil || !p.settings.Load().views {
		return nil
	}
	step := providers.ViewStep{Op: providers.ViewCreate}
	if inputs != nil {
		step.New = &providers.View{Type: "simple:index:View", Name: name + "-view", Inputs: *inputs, Outputs: *inputs}
	}
	if len(olds) > 0 {
		step.Op, step.Old = providers.ViewUpdate, &olds[0]
	}
	if inputs == nil {
		step.Op = providers.ViewDelete
	}
	if step.Old == nil && step.New == nil {
		return nil
	}
	return s.Publish(ctx, step)
}

// Parameterize makes a package from a value, or from the arguments NAME [VERSION [TEXT]], where "extend" before them extends the
// package "simple". The arguments become the value, and the value defines the package.
func (p *provider) Parameterize(_ context.Context, req providers.ParameterizeRequest) (providers.ParameterizeResponse, error) {
	is := parameterized{name: req.Name, version: req.Version, value: req.Value}
	args := strings.Fields(string(req.Value))
	if req.Args != nil {
		args = req.Args
		is = parameterized{version: "2.0.0", value: []byte(strings.Join(args, " "))}
	}
	if len(args) > 0 && args[0] == "extend" {
		is.extends, args = true, args[1:]
	}
	if req.Args != nil {
		if len(args) == 0 {
			return providers.ParameterizeResponse{}, errors.New("write the name of a package")
		}
		is.name = args[0]
		if len(args) > 1 {
			is.version = args[1]
		}
	}
	p.serves.Store(&is)
	return providers.ParameterizeResponse{Name: is.name, Version: is.version}, nil
}

// Schema describes the package that the process serves.
func (p *provider) Schema(_ context.Context, req providers.SchemaRequest) (string, error) {
	if path := os.Getenv("SIMPLE_SCHEMA"); path != "" {
		text, err := os.ReadFile(path)
		return string(text), err
	}
	is := p.serves.Load()
	if is == nil {
		is = &parameterized{name: "simple", version: version}
	} else if req.SubpackageName != is.name || req.SubpackageVersion != is.version {
		return "", errors.New("the process serves the package " + is.name + " " + is.version)
	}
	token := is.name + ":index:Thing"
	if is.extends {
		token = "simple:index:Extended" // an extension adds to the package of its plugin
	}
	schema := map[string]any{"name": is.name, "version": is.version}
	if is.value != nil { // the package "simple" has every type
		properties := map[string]any{"text": map[string]string{"type": "string"}}
		schema["resources"] = map[string]any{token: map[string]any{"properties": properties, "inputProperties": properties}}
	}
	base := map[string]any{"name": "simple", "version": version}
	switch {
	case is.value == nil:
	case is.extends:
		schema["extensionParameterization"] = map[string]any{"baseProvider": base, "parameter": is.value}
	default:
		schema["parameterization"] = map[string]any{"baseProvider": base, "parameter": is.value}
	}
	text, err := json.Marshal(schema)
	return string(text), err
}

// Mappings names two providers of the tool "terraform".
func (p *provider) Mappings(_ context.Context, key string) ([]string, error) {
	if key != "terraform" {
		return nil, nil
	}
	return []string{"simple", "other"}, nil
}

// Mapping returns a mapping with the name of its provider.
func (p *provider) Mapping(_ context.Context, req providers.MappingRequest) (providers.MappingResponse, error) {
	if req.Key != "terraform" {
		return providers.MappingResponse{}, nil
	}
	return providers.MappingResponse{Provider: req.Provider, Data: []byte("mapping of " + req.Provider + "\n")}, nil
}

// parameterized is the package that the process serves instead of "simple".
type parameterized struct {
	name, version string
	value         []byte
	extends       bool
}
