package requests

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

// monitor implements [Monitor] for one run.
type monitor struct {
	admission *Admission

	mu         sync.Mutex // guards the rest
	transforms []stages.Transform
	invokes    []stages.InvokeTransform
	saved      map[familyKey][]stages.Transform // of remote components, for their own registration
	inFlight   int
	ended      bool // the program will submit no more
	waited     bool // a program waits for shutdown

	turns       stages.Turns // of the requests of programs with a fixed order
	memory      memoryCheck
	independent independent
}

func newMonitor(a *Admission) *monitor {
	return &monitor{admission: a, saved: map[familyKey][]stages.Transform{}, memory: memoryCheck{began: time.Now()}}
}

type familyKey struct {
	parent urn.URN
	typ    urn.Type
	name   string
}

// enter admits a request, unless it returns an error. leave ends it.
func (m *monitor) enter() error {
	if !m.admission.control.IsAnswering() {
		return stages.ErrShutDown
	}
	m.mu.Lock()
	m.inFlight++
	m.mu.Unlock()
	return nil
}

// enterNew is enter for a request that takes memory until the end of the run.
func (m *monitor) enterNew() error {
	if err := m.checkMemory(); err != nil {
		return err
	}
	return m.enter()
}

func (m *monitor) leave() {
	m.mu.Lock()
	m.inFlight--
	done := m.ended && m.inFlight == 0
	m.mu.Unlock()
	if done {
		m.admission.intake.Close()
	}
}

// begin is enter for a request that calls others: the returned context ends with the run. The returned function ends the request.
func (m *monitor) begin(ctx context.Context) (context.Context, func(), error) {
	if err := m.enter(); err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	release := context.AfterFunc(m.admission.control.Answering, func() { cancel(stages.ErrShutDown) })
	return ctx, func() {
		release()
		cancel(nil)
		m.leave()
	}, nil
}

// beginNew is begin for a request that takes memory until the end of the run, or calls code that may call back.
func (m *monitor) beginNew(ctx context.Context) (context.Context, func(), error) {
	if err := m.checkMemory(); err != nil {
		return nil, nil, err
	}
	return m.begin(ctx)
}

// end records that the program will submit nothing new. Submitted requests are still processed.
func (m *monitor) end() {
	m.mu.Lock()
	m.ended = true
	done := m.inFlight == 0
	m.mu.Unlock()
	if done {
		m.admission.intake.Close()
	}
}

// Info describes the run.
func (m *monitor) Info() stages.RunInfo { return m.admission.control.Info }

// checkMemory stops the run if there is no memory for another resource. The program cannot handle that error: the resources that it
// then leaves out would be deleted.
func (m *monitor) checkMemory() error {
	limit := m.admission.Memory
	if limit.Limit == 0 || !m.memory.isDue() {
		return nil
	}
	err := full(memoryNow(limit), limit.Limit)
	if err == nil {
		return nil
	}
	if m.admission.control.Failed.Once("memory") {
		m.admission.control.Fail(stages.EndPhaseSeq, "", 0, err)
		m.admission.control.Halt()
	}
	return stages.ErrShutDown
}

// nilRequest returns the error for a program that makes a request without saying what it requests.
func nilRequest(method string) error {
	return stages.Invalid("%s has got nil; give it what it asks for", method)
}

// Register submits a registration and waits for its outcome.
func (m *monitor) Register(ctx context.Context, req *stages.RegisterRequest) (*stages.RegisterReply, error) {
	if req == nil {
		return nil, nilRequest("Register")
	}
	if err := m.enterNew(); err != nil {
		return nil, err
	}
	defer m.leave()
	m.admission.Families.registering(req.Parent)
	defer m.admission.Families.registered(req.Parent)
	dry := m.admission.control.DryRun()
	q := stages.NewPendingReply(req.SupportsResultReporting || dry)
	if !m.submit(stages.Submitted{PendingReply: q, Register: req, Caller: ctx}, req.Ordered) {
		return nil, stages.ErrShutDown
	}
	reply, err := q.WaitUnder(ctx, m.admission.control.Answering)
	m.admission.Families.answered(q, reply)
	if err != nil {
		return nil, m.refusal(ctx, err)
	}
	if dry && !req.SupportsResultReporting && reply.Result != stages.Success {
		// A preview goes on, and the program, too: the values are unknown as in any preview.
		made := *reply
		made.Result = stages.Success
		reply = &made
	}
	if !req.Custom && !req.Remote {
		// The outputs of a component may refer to resources that the program has not registered yet (steps.md 1.3).
		shown := *reply
		shown.Outputs = property.Map{}
		return &shown, nil
	}
	return reply, nil
}

// Read submits a read and waits for its outcome.
func (m *monitor) Read(ctx context.Context, req *stages.ReadRequest) (*stages.RegisterReply, error) {
	if req == nil {
		return nil, nilRequest("Read")
	}
	if err := m.enterNew(); err != nil {
		return nil, err
	}
	defer m.leave()
	q := stages.NewPendingReply(true)
	if !m.submit(stages.Submitted{PendingReply: q, Read: req, Caller: ctx}, req.Ordered) {
		return nil, stages.ErrShutDown
	}
	reply, err := q.WaitUnder(ctx, m.admission.control.Answering)
	m.admission.Families.answered(q, reply)
	if err != nil {
		return nil, m.refusal(ctx, err)
	}
	return reply, nil
}

// submit puts a request into the pipeline, and reports false if the run takes no more. o is the place of the request in its program,
// nil if that has no fixed order.
func (m *monitor) submit(s stages.Submitted, o *stages.Ordered) bool {
	if o == nil {
		return m.admission.intake.Put(s)
	}
	ok := m.turns.Submit(func(t *stages.Turn) bool {
		s.Turn = t
		return m.admission.intake.Put(s)
	})
	if ok {
		o.Submitted()
	}
	return ok
}

// causeOf prefers the cause of the context's end over the bare "context canceled".
func causeOf(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// refusal returns the error of a failed request: the reason why it must not go on rather than an error that may follow from it.
func (m *monitor) refusal(ctx context.Context, err error) error {
	if m.admission.control.Answering.Err() != nil && ctx.Err() == nil {
		return stages.ErrShutDown
	}
	return causeOf(ctx, err)
}

// transformsFor collects the transforms that apply to a registration: its own, its ancestors' from the nearest, and the
// stack's (protocol.md 4.10).
func (m *monitor) transformsFor(own []stages.Transform, parent urn.URN) []stages.Transform {
	all := append([]stages.Transform(nil), own...)
	for parent != "" {
		f := m.admission.Families.Of(parent)
		if f == nil {
			break
		}
		all = append(all, f.transforms...)
		parent = f.parent
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return append(all, m.transforms...)
}

// ownTransforms returns the transforms of a request, or those that an enclosing remote registration saved for it.
func (m *monitor) ownTransforms(req *stages.RegisterRequest) []stages.Transform {
	key := familyKey{req.Parent, req.Type, req.Name}
	m.mu.Lock()
	defer m.mu.Unlock()
	if saved, ok := m.saved[key]; ok {
		delete(m.saved, key)
		return saved
	}
	if req.Remote && len(req.Transforms) > 0 {
		m.saved[key] = req.Transforms
	}
	return req.Transforms
}

// RegisterPackage adds a package and returns a name for it; that of an extension is derived from its content (protocol.md 4.9).
func (m *monitor) RegisterPackage(_ context.Context, p stages.Package) (string, error) {
	return m.admission.packages.register(p)
}

// RegisterHook registers a lifecycle hook under its name.
func (m *monitor) RegisterHook(_ context.Context, h stages.Hook) error {
	if h.Run == nil {
		return fmt.Errorf("the hook %q has no function", h.Name)
	}
	return m.admission.hooks.Add(h.Name, &h, nil)
}

// RegisterErrorHook registers an error hook under its name. Names are unique across both kinds.
func (m *monitor) RegisterErrorHook(_ context.Context, h stages.ErrorHook) error {
	if h.Run == nil {
		return fmt.Errorf("the error hook %q has no function", h.Name)
	}
	return m.admission.hooks.Add(h.Name, nil, &h)
}

// Omit records that the program declares a resource and does not register it.
func (m *monitor) Omit(_ context.Context, req *stages.RegisterRequest, because []urn.URN) urn.URN {
	if req == nil {
		return ""
	}
	return m.admission.omissions.Add(req, because)
}

// RegisterStackTransform adds a transform for every later registration.
func (m *monitor) RegisterStackTransform(_ context.Context, t stages.Transform) error {
	if t == nil {
		return nilRequest("RegisterStackTransform")
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.transforms = append(m.transforms, t)
	return nil
}

// RegisterInvokeTransform adds a transform for every later invoke.
func (m *monitor) RegisterInvokeTransform(_ context.Context, t stages.InvokeTransform) error {
	if t == nil {
		return nilRequest("RegisterInvokeTransform")
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.invokes = append(m.invokes, t)
	return nil
}

// Log reports a message. An error message alone does not make the run fail: the end of the program decides whether it
// has failed.
func (m *monitor) Log(_ context.Context, msg stages.LogMessage) {
	if msg.Severity == stages.Error && (m.admission.control.IsHalted() || m.admission.control.HasFailed()) && repeatsShutDown(msg.Message) {
		return // the program repeats the error that it got when the run stopped
	}
	if msg.Severity == stages.Error {
		m.admission.control.RecordLogged(msg)
	}
	m.admission.control.Emit(stages.Diagnostic{LogMessage: msg, Logged: true})
}

// WaitForShutdown records that the program will submit no more, and waits for the end of the run.
func (m *monitor) WaitForShutdown(ctx context.Context) error {
	m.mu.Lock()
	again := m.waited
	m.waited = true
	m.mu.Unlock()
	if again {
		return errAlreadyWaiting
	}
	m.end()
	return m.admission.control.AwaitEnd(ctx)
}

// Invoke calls a function of a provider (protocol.md 4.6). An error goes to the program and does not stop the run.
func (m *monitor) Invoke(ctx context.Context, req *stages.InvokeRequest) (*stages.InvokeReply, error) {
	if req == nil {
		return nil, nilRequest("Invoke")
	}
	ctx, done, err := m.beginNew(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	in := stages.InvokeTransformInput{
		Token: req.Token, Args: req.Args, Provider: m.admission.providerOfFunction(req.Provider, req.Parent, urn.Type(req.Token).Package()),
		Version: req.Package.Version, PluginDownloadURL: req.Package.DownloadURL, PluginChecksums: req.Package.Checksums,
	}
	m.mu.Lock()
	transforms := m.invokes
	m.mu.Unlock()
	for _, t := range transforms {
		if in, err = t(ctx, in); err != nil {
			return nil, fmt.Errorf("invoke transform: %w", causeOf(ctx, err))
		}
	}
	p, err := m.functionProvider(ctx, in, req.Package, req.PackageRef)
	if _, ok := unmade(m.admission.control, err); ok {
		return &stages.InvokeReply{Unknown: true}, nil
	}
	if err != nil {
		return nil, causeOf(ctx, err)
	}
	dependsOn := req.DependsOn
	for _, args := range []property.Map{req.Args, in.Args} { // a transform may lose dependencies
		for _, ds := range args.OutputDependencies() {
			dependsOn = append(dependsOn, ds...)
		}
	}
	unresolved, err := m.admission.Families.unresolved(ctx, urn.SortedSet(dependsOn))
	if err != nil {
		return nil, causeOf(ctx, err)
	}
	if unresolved {
		return &stages.InvokeReply{Unknown: true}, nil
	}
	if err := available(in.Args); err != nil {
		return nil, fmt.Errorf("invocation of %v returned an error: %w", req.Token, err)
	}
	res, err := p.Invoke(ctx, providers.InvokeRequest{
		Token: req.Token, Args: in.Args.DowngradeOutputs(), Outputs: in.Args, Preview: m.admission.control.DryRun(),
	})
	if err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, fmt.Errorf("invocation of %v returned an error: %w", req.Token, err)
	}
	if !req.KeepOutputs {
		res.Return = res.Return.DowngradeOutputs()
	}
	return &stages.InvokeReply{Return: res.Return, Failures: checkFailures(res.Failures)}, nil
}

// existsName is the name in the URN of an object whose existence is asked for: providers need one for their messages.
const existsName = "exists"

// Exists reads an object. An error goes to the program and does not stop the run.
func (m *monitor) Exists(ctx context.Context, req *stages.ExistsRequest) (*stages.ExistsReply, error) {
	if req == nil {
		return nil, nilRequest("Exists")
	}
	ctx, done, err := m.beginNew(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	if req.ID.IsUnknown() {
		return &stages.ExistsReply{Unknown: true}, nil
	}
	p, err := m.functionProvider(ctx, stages.InvokeTransformInput{
		Token: string(req.Type), Provider: m.admission.providerOfFunction(req.Provider, req.Parent, req.Type.Package()),
		Version: req.Package.Version, PluginDownloadURL: req.Package.DownloadURL, PluginChecksums: req.Package.Checksums,
	}, req.Package, req.PackageRef)
	if _, ok := unmade(m.admission.control, err); ok {
		return &stages.ExistsReply{Unknown: true}, nil
	}
	if err != nil {
		return nil, causeOf(ctx, err)
	}
	info := m.admission.control.Info
	u := urn.New(info.Stack, info.Project, "", req.Type, existsName)
	res, err := p.Read(ctx, providers.ReadRequest{URN: u, Name: u.Name(), Type: req.Type, ID: req.ID.AsString(), Known: true, Inputs: req.Properties})
	if res.Unknown {
		return &stages.ExistsReply{Unknown: true}, nil
	}
	var unhealthy *providers.InitError
	if err != nil && !errors.As(err, &unhealthy) {
		return nil, fmt.Errorf("reading %s %q: %w", req.Type, req.ID.AsString(), causeOf(ctx, err))
	}
	return &stages.ExistsReply{Exists: unhealthy != nil || !res.Absent}, nil
}

func checkFailures(in []providers.CheckFailure) []stages.CheckFailure {
	var out []stages.CheckFailure
	for _, f := range in {
		out = append(out, stages.CheckFailure(f))
	}
	return out
}

func (m *monitor) functionProvider(ctx context.Context, in stages.InvokeTransformInput, p stages.Package, ref string) (providers.Provider, error) {
	pkg := urn.Type(in.Token).Package()
	if pkg == "" {
		return nil, stages.Invalid("function token %q does not have the form <package>:<module>:<name>", in.Token)
	}
	if err := urn.CheckPackageName("package", pkg); err != nil {
		return nil, stages.Invalid("function token %q: %w", in.Token, err)
	}
	p, err := m.admission.packages.meant(p, ref)
	if err != nil {
		return nil, err
	}
	reference := in.Provider
	if reference == "" {
		if ref == "" {
			p.Version, p.DownloadURL, p.Checksums = in.Version, in.PluginDownloadURL, in.PluginChecksums
		}
		if reference, err = m.admission.Defaults.reference(ctx, p.ServedBy(urn.Type(in.Token)), p); err != nil {
			return nil, err
		}
	}
	provider, err := m.admission.remoteProvider(reference, in.Token)
	if err != nil || p.Extension == nil {
		return provider, err
	}
	return provider, m.admission.access.Extensions.Apply(ctx, provider, m.admission.access.Extensions.Register(*p.Extension))
}

// Call calls a method of a resource (protocol.md 4.7). An error stops the run.
func (m *monitor) Call(ctx context.Context, req *stages.CallRequest) (*stages.CallReply, error) {
	if req == nil {
		return nil, nilRequest("Call")
	}
	ctx, done, err := m.beginNew(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	p, err := m.methodProvider(ctx, req)
	if _, ok := unmade(m.admission.control, err); ok {
		return nil, stages.ErrShutDown // as for a call that fails: its cause has been shown
	}
	if err != nil {
		return nil, causeOf(ctx, err)
	}
	d := m.admission.deployment()
	if err := available(req.Args); err != nil {
		return nil, m.callFailed(req.Token, err)
	}
	args := req.Args.LiftOutputs()
	deps := map[string][]urn.URN{}
	for name, ds := range req.ArgDependencies {
		deps[name] = ds
	}
	for name, ds := range args.OutputDependencies() {
		deps[name] = urn.SortedSet(append(deps[name], ds...))
	}
	res, err := p.Call(ctx, providers.CallRequest{Token: req.Token, Args: args.DowngradeBareOutputs(), ArgDependencies: deps, Deployment: d, StackTraceHandle: req.StackTraceHandle})
	if err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, m.callFailed(req.Token, err)
	}
	ret := map[string][]urn.URN{}
	for name, ds := range res.ReturnDependencies {
		ret[name] = ds
	}
	for name, ds := range res.Return.OutputDependencies() {
		ret[name] = urn.SortedSet(append(ret[name], ds...))
	}
	if !req.KeepOutputs {
		res.Return = res.Return.DowngradeOutputs()
	}
	return &stages.CallReply{Return: res.Return, ReturnDependencies: ret, Failures: checkFailures(res.Failures)}, nil
}

// callFailed stops an update. In a preview, the program may register more until it ends because of the error.
func (m *monitor) callFailed(token string, err error) error {
	m.admission.control.Fail(0, "", stages.CodeCallFailed, fmt.Errorf("call to function '%v' failed: %w", token, err))
	if !m.admission.control.DryRun() {
		m.admission.control.Halt()
	}
	return stages.ErrShutDown
}

// methodProvider chooses the provider of a call (steps.md 10.2).
func (m *monitor) methodProvider(ctx context.Context, req *stages.CallRequest) (providers.Provider, error) {
	self, hasSelf := req.Args.Get("__self__")
	inner, _ := self.Unwrap()
	ref := inner.AsReference()
	if strings.HasPrefix(req.Token, "pulumi:providers:") {
		switch {
		case !hasSelf:
			return nil, stages.Invalid("missing __self__ argument for provider method call")
		case ref.URN == "":
			return nil, stages.Invalid("missing __self__.urn for method call")
		}
		id := ref.ID.AsString()
		if ref.ID.IsUnknown() {
			id = urn.UnknownID
		}
		return m.admission.remoteProvider(urn.ProviderRef{URN: ref.URN, ID: id}.String(), req.Token)
	}
	if req.Provider != "" {
		return m.admission.remoteProvider(req.Provider, req.Token)
	}
	if hasSelf && ref.URN != "" {
		f := m.admission.Families.Of(ref.URN)
		if f == nil || f.Own == nil {
			return nil, stages.Invalid("unknown resource %v", ref.URN)
		}
		if f.Own.provider != "" {
			return m.admission.remoteProvider(f.Own.provider, req.Token)
		}
	}
	return m.functionProvider(ctx, stages.InvokeTransformInput{
		Token: req.Token, Version: req.Package.Version, PluginDownloadURL: req.Package.DownloadURL, PluginChecksums: req.Package.Checksums,
	}, req.Package, req.PackageRef)
}

// RegisterOutputs sets the outputs of a component whose registration is done (steps.md 9.7). Those of the root stack are kept until
// the run ends. Those of a component that failed, was skipped, or has the URN of another one are ignored: its program goes on, and its failure has
// been reported.
func (m *monitor) RegisterOutputs(ctx context.Context, u urn.URN, outputs property.Map) error {
	ctx, done, err := m.begin(ctx)
	if err != nil {
		return err
	}
	defer done()
	if outputs, err = property.HashAssets(ctx, outputs.DowngradeOutputs(), m.admission.Directory); err != nil {
		return fmt.Errorf("outputs of %s: %w", u, err)
	}
	s, ok := m.admission.outputs.Take(u)
	if !ok {
		if _, failed := m.admission.access.Rooms.Failures.Of(u); failed || m.admission.access.Rooms.Names.IsTwice(u) {
			return nil
		}
		return stages.Invalid("cannot complete a resource '%v' whose registration isn't pending", u)
	}
	if s.Kind == stages.Uncreated {
		return nil // it was not created; there is nothing to record
	}
	if s.Type == urn.RootStackType {
		m.admission.outputs.SetStack(s, outputs)
		return nil
	}
	return m.admission.registered.Register(s, outputs)
}

// repeatsShutDown reports whether a message of a program only repeats that the monitor has ended. Only its text shows that.
func repeatsShutDown(message string) bool {
	for _, text := range []string{
		stages.ErrShutDown.Error(), "Resource monitor has terminated" /* Python */, "Resource monitor is terminating", /* Node.js */
	} {
		if strings.Contains(message, text) {
			return true
		}
	}
	return false
}

// available returns an error if an argument is not available. Then not even a preview can go on.
func available(args property.Map) error {
	at, v, found := args.FindUnavailable()
	if !found {
		return nil
	}
	why, _ := v.IsUnavailable()
	return fmt.Errorf("the value of %s is not available: %s", at, why)
}
