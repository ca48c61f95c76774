package rules

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sourcegraph/conc/pool"
	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/providertest"
	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// kit is a stack named dev of a project named p, in a made-up cloud.
type kit struct {
	t     *testing.T
	cloud *providertest.Cloud
	state *sluice.MemoryState
	// options are those of every operation; a test changes what it is about.
	options sluice.Options
	// fake changes a provider before it is used; nil leaves the cloud's.
	fake func(*providertest.Fake)

	mu       sync.Mutex // guards requests
	requests []inquiry
	seen     int // calls of the cloud that belong to earlier operations
	ran      int // operations
	foreign  []string
}

// inquiry is one request to a provider, with the name of its resource.
type inquiry struct {
	name string
	body any
}

func newKit(t *testing.T, failures ...providertest.Failure) *kit {
	return newKitWith(t, providertest.Options{Failures: failures})
}

func newKitWith(t *testing.T, o providertest.Options) *kit {
	k := &kit{t: t, cloud: providertest.NewCloud(o), state: &sluice.MemoryState{}}
	k.options = sluice.Options{Stack: "dev", Project: "p", State: k.state, Providers: k.host()}
	return k
}

// host starts providers of the cloud that write their requests down.
func (k *kit) host() providers.Host {
	return providers.HostFunc(func(ctx context.Context, spec providers.Spec) (providers.Provider, error) {
		base, err := k.cloud.Host().Load(ctx, spec)
		f := &providertest.Fake{Base: base}
		if k.fake != nil {
			k.fake(f)
		}
		return &spy{Provider: f, kit: k}, err
	})
}

// spy writes down the requests to a provider.
type spy struct {
	providers.Provider
	kit *kit
}

func (s *spy) note(name string, body any) {
	s.kit.mu.Lock()
	defer s.kit.mu.Unlock()
	s.kit.requests = append(s.kit.requests, inquiry{name, body})
}

func (s *spy) CheckConfig(ctx context.Context, r providers.CheckRequest) (providers.CheckResponse, error) {
	s.note("config "+r.Name, r)
	return s.Provider.CheckConfig(ctx, r)
}

func (s *spy) DiffConfig(ctx context.Context, r providers.DiffRequest) (providers.DiffResponse, error) {
	s.note("config "+r.Name, r)
	return s.Provider.DiffConfig(ctx, r)
}

func (s *spy) Configure(ctx context.Context, r providers.ConfigureRequest) error {
	s.note(r.Name, r)
	return s.Provider.Configure(ctx, r)
}

func (s *spy) Check(ctx context.Context, r providers.CheckRequest) (providers.CheckResponse, error) {
	s.note(r.Name, r)
	return s.Provider.Check(ctx, r)
}

func (s *spy) Diff(ctx context.Context, r providers.DiffRequest) (providers.DiffResponse, error) {
	s.note(r.Name, r)
	return s.Provider.Diff(ctx, r)
}

func (s *spy) Create(ctx context.Context, r providers.CreateRequest) (providers.CreateResponse, error) {
	s.note(r.Name, r)
	return s.Provider.Create(ctx, r)
}

func (s *spy) Update(ctx context.Context, r providers.UpdateRequest) (providers.UpdateResponse, error) {
	s.note(r.Name, r)
	return s.Provider.Update(ctx, r)
}

func (s *spy) Delete(ctx context.Context, r providers.DeleteRequest) error {
	s.note(r.Name, r)
	return s.Provider.Delete(ctx, r)
}

func (s *spy) Read(ctx context.Context, r providers.ReadRequest) (providers.ReadResponse, error) {
	s.note(r.Name, r)
	return s.Provider.Read(ctx, r)
}

// ran is one operation that is over.
type ran struct {
	*sluice.Result
	t        *testing.T
	err      error
	events   []sluice.Event
	requests []inquiry
	calls    []providertest.Call
	snapshot *sluice.Snapshot
}

type operation func(context.Context, sluice.Options) (*sluice.Result, error)

// try runs an operation. Whatever happens, the state must be sound and name only what may exist.
func (k *kit) try(op operation, p source.Func) *ran {
	k.t.Helper()
	out := &ran{t: k.t}
	o := k.options
	o.Program = p
	k.ran++
	o.Entropy = []byte{byte(k.ran)}
	o.Observe = func(e sluice.Event) {
		out.events = append(out.events, e)
		if k.options.Observe != nil {
			k.options.Observe(e)
		}
	}
	k.requests = nil
	out.Result, out.err = op(k.t.Context(), o)
	calls := k.cloud.Calls()
	out.calls, k.seen = calls[k.seen:], len(calls)
	out.requests = k.requests
	out.snapshot = k.state.Snapshot()
	require.NoError(k.t, state.Verify(out.snapshot))
	if len(out.events) > 0 {
		require.Equal(k.t, sluice.Ended{}, out.events[len(out.events)-1])
	}
	return out
}

// up runs an update that succeeds and leaves nothing pending.
func (k *kit) up(p source.Func) *ran {
	k.t.Helper()
	out := k.try(sluice.Update, p)
	require.NoError(k.t, out.err)
	k.requireTruth()
	return out
}

func (k *kit) preview(p source.Func) *ran {
	k.t.Helper()
	out := k.try(sluice.Preview, p)
	require.NoError(k.t, out.err)
	return out
}

func (k *kit) destroy() *ran {
	k.t.Helper()
	out := k.try(sluice.Destroy, nil)
	require.NoError(k.t, out.err)
	k.requireTruth()
	return out
}

// fails runs an update that fails, and returns it with what went wrong.
func (k *kit) fails(p source.Func, text string) *ran {
	k.t.Helper()
	out := k.try(sluice.Update, p)
	out.requireFailure(text)
	return out
}

func (r *ran) requireFailure(text string) {
	r.t.Helper()
	var failed *sluice.FailedError
	require.ErrorAs(r.t, r.err, &failed)
	require.False(r.t, failed.Canceled)
	require.ErrorContains(r.t, r.err, text)
	require.Equal(r.t, sluice.Failed, r.summary().Result)
}

// requireTruth compares what the state says with what exists.
func (k *kit) requireTruth() {
	k.t.Helper()
	s := k.state.Snapshot()
	require.Empty(k.t, s.Pending)
	var recorded, existing []string
	for _, r := range s.Resources {
		if r.Custom && !r.External && !r.PendingReplacement && !r.Type.IsProvider() && r.Type.Package() != "pulumi" {
			recorded = append(recorded, r.ID)
		}
	}
	records, err := k.cloud.Records()
	require.NoError(k.t, err)
	for _, r := range records {
		if !slices.Contains(k.foreign, r.ID) {
			existing = append(existing, r.ID)
		}
	}
	slices.Sort(recorded)
	require.Equal(k.t, recorded, existing)
}

// exists puts something into the cloud that is not the stack's.
func (k *kit) exists(id string, inputs in) {
	k.t.Helper()
	require.NoError(k.t, k.cloud.Put(providertest.Record{ID: id, URN: urnOf(id), Inputs: values(inputs)}))
	k.foreign = append(k.foreign, id)
}

// steps returns the steps in the order in which they began, internal ones left out: "create a".
func (r *ran) steps() []string {
	var out []string
	for _, e := range r.events {
		if s, ok := e.(sluice.StepStarted); ok && !s.Step.Internal {
			out = append(out, string(s.Step.Op)+" "+s.Step.URN.Name())
		}
	}
	return out
}

// did returns the calls of resource methods in their order: "check a".
func (r *ran) did() []string {
	var out []string
	for _, c := range r.calls {
		switch c.Method {
		case providers.MethodCheck, providers.MethodDiff, providers.MethodCreate, providers.MethodUpdate, providers.MethodDelete, providers.MethodRead:
			out = append(out, string(c.Method)+" "+c.URN.Name())
		}
	}
	return out
}

// changed returns the calls that change the cloud.
func (r *ran) changed() []string {
	return slices.DeleteFunc(r.did(), func(s string) bool {
		return strings.HasPrefix(s, "check ") || strings.HasPrefix(s, "diff ") || strings.HasPrefix(s, "read ")
	})
}

// step returns the only step of this kind for the name.
func (r *ran) step(op sluice.Op, name string) sluice.StepInfo {
	r.t.Helper()
	var found []sluice.StepInfo
	for _, s := range r.Steps {
		if s.Op == op && s.URN.Name() == name {
			found = append(found, s)
		}
	}
	require.Len(r.t, found, 1, "%s %s", op, name)
	return found[0]
}

// requireCounts compares the counted steps, the zero ones left out.
func (r *ran) requireCounts(want map[sluice.Op]int) {
	r.t.Helper()
	require.Equal(r.t, want, r.Changes)
}

func (r *ran) summary() sluice.Summary {
	r.t.Helper()
	require.GreaterOrEqual(r.t, len(r.events), 2)
	s, ok := r.events[len(r.events)-2].(sluice.Summary)
	require.True(r.t, ok, "the last event but one is %T", r.events[len(r.events)-2])
	return s
}

// diagnostics returns the messages of a severity.
func (r *ran) diagnostics(s sluice.Severity) []sluice.Diagnostic {
	var out []sluice.Diagnostic
	for _, e := range r.events {
		if d, ok := e.(sluice.Diagnostic); ok && d.Severity == s {
			out = append(out, d)
		}
	}
	return out
}

// requireDiagnostic looks for a message with this code and text.
func (r *ran) requireDiagnostic(s sluice.Severity, code int, text string) {
	r.t.Helper()
	for _, d := range r.diagnostics(s) {
		if d.Code == code && strings.Contains(d.Message, text) {
			return
		}
	}
	require.Fail(r.t, "no such diagnostic", "%s %d %q\nthere are: %+v", s, code, text, r.diagnostics(s))
}

// asked returns the requests of one type for the resource of that name.
func asked[T any](r *ran, name string) []T {
	var out []T
	for _, q := range r.requests {
		if body, ok := q.body.(T); ok && q.name == name {
			out = append(out, body)
		}
	}
	return out
}

// askedOnce returns the only one.
func askedOnce[T any](r *ran, name string) T {
	r.t.Helper()
	all := asked[T](r, name)
	require.Len(r.t, all, 1)
	return all[0]
}

// all returns the recorded states of that name in their order.
func (k *kit) all(name string) []*sluice.Resource {
	var out []*sluice.Resource
	for _, r := range k.state.Snapshot().Resources {
		if r.URN.Name() == name {
			out = append(out, r)
		}
	}
	return out
}

// recorded returns the only recorded state of that name.
func (k *kit) recorded(name string) *sluice.Resource {
	k.t.Helper()
	all := k.all(name)
	require.Len(k.t, all, 1, name)
	return all[0]
}

// names returns the names of the recorded states, default providers left out.
func (k *kit) names() []string {
	var out []string
	for _, r := range k.state.Snapshot().Resources {
		if !(r.Type.IsProvider() && strings.HasPrefix(r.URN.Name(), "default")) {
			name := r.URN.Name()
			if r.Delete {
				name += " (delete)"
			}
			if r.PendingReplacement {
				name += " (pending)"
			}
			out = append(out, name)
		}
	}
	return out
}

// change edits a recorded state.
func (k *kit) change(name string, f func(*state.Resource)) {
	k.t.Helper()
	old := k.recorded(name)
	s := *k.state.Snapshot()
	s.Resources = slices.Clone(s.Resources)
	changed := old.Clone()
	f(changed)
	s.Resources[slices.Index(s.Resources, old)] = changed
	require.NoError(k.t, state.Verify(&s))
	k.state = sluice.NewMemoryState(&s)
	k.options.State = k.state
}

// script is a program under way. The first error stops it: later calls do nothing.
type script struct {
	ctx context.Context
	m   stages.Monitor
	err error
}

// program makes a program of a function.
func program(f func(s *script)) source.Func {
	return func(ctx context.Context, m stages.Monitor) error {
		s := &script{ctx: ctx, m: m}
		f(s)
		return s.err
	}
}

type in = map[string]any

// values turns Go values into properties.
func values(m in) property.Map {
	out := map[string]property.Value{}
	for k, v := range m {
		out[k] = value(v)
	}
	return property.NewMap(out)
}

func value(v any) property.Value {
	switch v := v.(type) {
	case property.Value:
		return v
	case string:
		return property.String(v)
	case int:
		return property.Number(float64(v))
	case bool:
		return property.Bool(v)
	case in:
		return property.Of(values(v))
	case []any:
		var out []property.Value
		for _, e := range v {
			out = append(out, value(e))
		}
		return property.ArrayOf(out...)
	case nil:
		return property.Null
	}
	panic(fmt.Sprintf("no property for %T", v))
}

type option func(*stages.RegisterRequest)

// thing registers a custom resource of the package test; each property depends on nothing, as SDKs spell out.
func (s *script) thing(name string, inputs in, with ...option) *stages.RegisterReply {
	return s.register("test:index:Thing", name, inputs, with...)
}

// group registers a component and its outputs, which are empty.
func (s *script) group(name string, with ...option) *stages.RegisterReply {
	with = append(with, func(r *stages.RegisterRequest) { r.Custom = false })
	return s.register("test:index:Group", name, nil, with...)
}

// provider registers an explicit provider and returns its reference.
func (s *script) provider(name string, inputs in, with ...option) (*stages.RegisterReply, string) {
	r := s.register("pulumi:providers:test", name, inputs, with...)
	id := r.ID
	if id == "" {
		id = urn.UnknownID
	}
	return r, urn.ProviderRef{URN: r.URN, ID: id}.String()
}

func (s *script) register(typ urn.Type, name string, inputs in, with ...option) *stages.RegisterReply {
	if s.err != nil {
		return &stages.RegisterReply{}
	}
	r, err := s.m.Register(s.ctx, registration(typ, name, inputs, with...))
	if err != nil {
		s.err = err
		return &stages.RegisterReply{}
	}
	return r
}

func registration(typ urn.Type, name string, inputs in, with ...option) *stages.RegisterRequest {
	r := &stages.RegisterRequest{
		Type: typ, Name: name, Custom: true, Inputs: values(inputs), SupportsResultReporting: true, AliasSpecs: true,
		PropertyDependencies: map[string][]urn.URN{},
	}
	for k := range inputs {
		r.PropertyDependencies[k] = nil
	}
	for _, o := range with {
		o(r)
	}
	return r
}

// read reads a resource.
func (s *script) read(name, id string, with ...func(*stages.ReadRequest)) *stages.RegisterReply {
	if s.err != nil {
		return &stages.RegisterReply{}
	}
	q := &stages.ReadRequest{Type: "test:index:Thing", Name: name, ID: property.String(id)}
	for _, o := range with {
		o(q)
	}
	r, err := s.m.Read(s.ctx, q)
	if err != nil {
		s.err = err
		return &stages.RegisterReply{}
	}
	return r
}

// stack registers the root stack.
func (s *script) stack() *stages.RegisterReply {
	return s.register(urn.RootStackType, "p-dev", nil, func(r *stages.RegisterRequest) { r.Custom = false })
}

func (s *script) outputs(of *stages.RegisterReply, outputs in) {
	if s.err == nil {
		s.err = s.m.RegisterOutputs(s.ctx, of.URN, values(outputs))
	}
}

func parent(p *stages.RegisterReply) option {
	return func(r *stages.RegisterRequest) { r.Parent = p.URN }
}

func dependsOn(on ...*stages.RegisterReply) option {
	return func(r *stages.RegisterRequest) {
		for _, d := range on {
			r.Dependencies = append(r.Dependencies, d.URN)
		}
	}
}

// from gives a property the arn of another resource.
func from(name string, of *stages.RegisterReply) option {
	return func(r *stages.RegisterRequest) {
		v, ok := of.Outputs.Get("arn")
		if !ok {
			v = property.Computed()
		}
		r.Inputs = r.Inputs.With(name, v)
		r.PropertyDependencies[name] = append(r.PropertyDependencies[name], of.URN)
		r.Dependencies = append(r.Dependencies, of.URN)
	}
}

func deletedWith(of *stages.RegisterReply) option {
	return func(r *stages.RegisterRequest) { r.DeletedWith = of.URN }
}

func replaceWith(of ...*stages.RegisterReply) option {
	return func(r *stages.RegisterRequest) {
		for _, o := range of {
			r.ReplaceWith = append(r.ReplaceWith, o.URN)
		}
	}
}

func via(ref string) option { return func(r *stages.RegisterRequest) { r.Provider = ref } }

func protect(yes bool) option { return func(r *stages.RegisterRequest) { r.Protect = &yes } }

func retain(yes bool) option { return func(r *stages.RegisterRequest) { r.RetainOnDelete = &yes } }

func deleteFirst(yes bool) option {
	return func(r *stages.RegisterRequest) { r.DeleteBeforeReplace = &yes }
}

func ignore(paths ...string) option {
	return func(r *stages.RegisterRequest) { r.IgnoreChanges = paths }
}

func replaceOn(paths ...string) option {
	return func(r *stages.RegisterRequest) { r.ReplaceOnChanges = paths }
}

func trigger(v any) option {
	return func(r *stages.RegisterRequest) { r.ReplacementTrigger = value(v) }
}

func secretOutputs(names ...string) option {
	return func(r *stages.RegisterRequest) { r.AdditionalSecretOutputs = names }
}

func alias(as ...urn.Alias) option {
	return func(r *stages.RegisterRequest) { r.Aliases = append(r.Aliases, as...) }
}

func hooks(kind string, names ...string) option {
	return func(r *stages.RegisterRequest) {
		if r.Hooks == nil {
			r.Hooks = map[string][]string{}
		}
		r.Hooks[kind] = names
	}
}

// secret makes a secret.
func secret(v any) property.Value { return property.Secret(value(v)) }

// urnOf is the URN of a thing without parent.
func urnOf(name string) urn.URN { return urn.New("dev", "p", "", "test:index:Thing", name) }

// idOf is the ID of the nth thing without parent that was made under a name.
func idOf(name string, nth int) string { return providertest.ID(urnOf(name), nth) }

// at is a clock that a test sets.
type clock struct{ now time.Time }

func (c *clock) Now() time.Time { return c.now }

var errRefused = errors.New("refused")

// together calls f for 0 to n-1 at once and returns the errors.
func together(n int, f func(i int) error) error {
	p := pool.New().WithErrors()
	for i := range n {
		p.Go(func() error { return f(i) })
	}
	return p.Wait()
}
