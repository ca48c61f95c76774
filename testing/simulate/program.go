package simulate

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sourcegraph/conc"

	"github.com/sluice-iac/sluice/pipeline/await"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

var (
	errThrown  = errors.New("the program threw an error")
	errNotMade = errors.New("not made")
	errHook    = errors.New("the hook does not like it")
)

// program is the running program of one operation.
type program struct {
	op      Operation
	preview bool
	replies map[string]*await.Promise[*stages.RegisterReply]
	first   map[string]int // the index of the first declaration of each name
	// answered is called with each reply to a registration.
	answered func(*stages.RegisterReply)
	// now returns the time by the clock of the attempt.
	now func() int
	// sawUnknown is true after a resource got an unknown value.
	sawUnknown atomic.Bool
	ended      atomic.Bool
	// undone is true when a registration or a read failed or was skipped.
	undone atomic.Bool
	// exported is the stack, if it has registered its outputs, and unknownExports are the unknown ones.
	exported       urn.URN
	unknownExports []string
	outputs        property.Map // of the stack that a reader reads

	mu     sync.Mutex // guards the rest
	made   map[urn.URN]Declaration
	times  map[urn.URN]moment
	unmade map[string]urn.URN // not created, or omitted because of that, by name
}

func newProgram(op Operation, preview bool) *program {
	p := &program{op: op, preview: preview, replies: map[string]*await.Promise[*stages.RegisterReply]{}, first: map[string]int{}, made: map[urn.URN]Declaration{}, times: map[urn.URN]moment{}, unmade: map[string]urn.URN{}}
	for i, d := range op.Program {
		if _, twice := p.first[d.Name]; !twice {
			p.first[d.Name] = i
			p.replies[d.Name] = await.NewPromise[*stages.RegisterReply]()
		}
	}
	return p
}

// run registers all resources in the manner of the program.
func (p *program) run(ctx context.Context, m stages.Monitor) (err error) {
	defer p.ended.Store(true)
	for _, h := range hooks() {
		if err := m.RegisterHook(ctx, h); err != nil {
			return err
		}
	}
	for _, h := range errorHooks() {
		if err := m.RegisterErrorHook(ctx, h); err != nil {
			return err
		}
	}
	// The default provider is created before anything else, so that no two resources wait for it together.
	warm := &stages.RegisterRequest{Type: "test:index:Thing", Name: "first", Custom: true, SupportsResultReporting: true}
	warm.Package.Version = p.op.Version
	if r, err := m.Register(ctx, warm); err != nil {
		return err
	} else {
		p.answered(r)
	}
	if err := p.readStack(ctx, m); err != nil {
		return err
	}
	var wg conc.WaitGroup
	defer func() {
		wg.Wait()
		if err == nil {
			p.export(ctx, m)
		}
	}()
	for i, d := range p.op.Program {
		if p.op.Throw == i+1 {
			return errThrown
		}
		declare := func() { p.declare(ctx, m, i, d) }
		switch p.op.Manner {
		case Ordered:
			// First the references of the resource are resolved, then it is registered. The clock of the bubble advances
			// only when the registration has arrived.
			p.await(ctx, i, d)
			wg.Go(declare)
			time.Sleep(time.Nanosecond)
		case Eager:
			wg.Go(declare)
		default:
			declare()
		}
	}
	return nil
}

// declare makes one declaration and resolves its promise.
func (p *program) declare(ctx context.Context, m stages.Monitor, i int, d Declaration) {
	promise := p.replies[d.Name]
	if p.first[d.Name] != i {
		promise = await.NewPromise[*stages.RegisterReply]()
	}
	r, when, err := p.register(ctx, m, i, d)
	p.note(i, d, r, when, err)
	switch {
	case err != nil:
	case r.Result != stages.Success && !p.op.Stubborn:
		err = errNotMade
	}
	if err != nil {
		promise.Fail(err)
		return
	}
	p.answered(r)
	if d.Kind == Component && r.Result == stages.Success {
		outputs := map[string]property.Value{"of": property.String(d.Name)}
		for k, v := range d.Values {
			outputs[k] = property.String(v)
		}
		_ = m.RegisterOutputs(ctx, r.URN, property.NewMap(outputs))
	}
	if d.Invokes {
		_, _ = m.Invoke(ctx, &stages.InvokeRequest{
			Package: stages.Package{Version: p.op.Version}, Token: "test:index:echo", Args: property.NewMap(map[string]property.Value{"value": p.output(r)}), DependsOn: []urn.URN{r.URN},
		})
	}
	promise.Resolve(r)
}

// export registers the outputs of the stack, if the program declares it. It leaves out resources that were not created.
func (p *program) export(ctx context.Context, m stages.Monitor) {
	of := slices.IndexFunc(p.op.Program, func(d Declaration) bool { return d.Kind == Stack })
	if of < 0 {
		return
	}
	d := p.op.Program[of]
	if p.first[d.Name] != of {
		return // another resource has the name
	}
	r, err := p.replies[d.Name].Wait(ctx)
	if err != nil || r.Result != stages.Success {
		return
	}
	outputs := map[string]property.Value{"of": property.String(d.Name)}
	for k, v := range d.Values {
		outputs[k] = property.String(v)
	}
	for _, name := range d.Exports {
		promise, declared := p.replies[name]
		if !declared {
			continue
		}
		if from, err := promise.Wait(ctx); err == nil {
			outputs["of "+name] = p.output(from)
			if slices.Contains(d.Secret, name) {
				outputs["of "+name] = property.Secret(outputs["of "+name])
			}
			if !outputs["of "+name].IsKnown() {
				p.unknownExports = append(p.unknownExports, "of "+name)
			}
		}
	}
	if m.RegisterOutputs(ctx, r.URN, property.NewMap(outputs)) == nil {
		p.exported = r.URN
	}
}

func (p *program) register(ctx context.Context, m stages.Monitor, i int, d Declaration) (r *stages.RegisterReply, when moment, err error) {
	refs := p.references(ctx, i, d)
	if refs == nil {
		p.omit(ctx, m, i, d)
		return nil, when, errNotMade
	}
	when.sent = p.now()
	if d.Kind == Reading {
		r, err = m.Read(ctx, p.readRequest(d, refs))
	} else {
		r, err = m.Register(ctx, p.request(d, refs))
	}
	when.answered = p.now()
	return r, when, err
}

// moment has the times of a registration and of its reply, by the clock of the attempt.
type moment struct{ sent, answered int }

// moment returns the moment of a resource. It is never if there was no registration or no reply.
func (p *program) moment(u urn.URN) moment {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.times[u]
}

// note records the result of a declaration.
func (p *program) note(i int, d Declaration, r *stages.RegisterReply, when moment, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err == nil {
		p.times[r.URN] = when
	}
	switch {
	case err != nil:
		p.undone.Store(true)
	case r.Result != stages.Success:
		p.undone.Store(true)
		if p.first[d.Name] == i {
			p.unmade[d.Name] = r.URN
		}
	default:
		p.made[r.URN] = d
	}
}

// omit reports an omitted resource, if the program does so, as evaluators do that have the references of a resource.
func (p *program) omit(ctx context.Context, m stages.Monitor, i int, d Declaration) {
	if !p.op.Omits || p.first[d.Name] != i {
		return
	}
	req := &stages.RegisterRequest{Type: typeOf(d), Name: d.Name, AliasSpecs: true}
	var because []urn.URN
	for _, name := range append(d.dependencies(), d.Parent) {
		if first, ok := p.first[name]; !ok || first >= i {
			continue // what the program declares later does not count
		}
		r, err := p.replies[name].Wait(ctx) // as an evaluator does
		p.mu.Lock()
		u, unmade := p.unmade[name]
		p.mu.Unlock()
		if unmade {
			because = append(because, u)
		} else if err == nil && r != nil {
			u = r.URN
		}
		if name == d.Parent {
			req.Parent = u
		}
	}
	for _, a := range d.Aliases {
		req.Aliases = append(req.Aliases, urn.Alias{Name: a.Name, Type: fullType(a.Type), NoParent: a.NoParent})
	}
	u := m.Omit(ctx, req, because)
	p.mu.Lock()
	p.unmade[d.Name] = u
	p.mu.Unlock()
}

// declaration returns the declaration of a resource, if it was created.
func (p *program) declaration(u urn.URN) (Declaration, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	d, ok := p.made[u]
	return d, ok
}

// await waits for all references of a declaration.
func (p *program) await(ctx context.Context, i int, d Declaration) { p.references(ctx, i, d) }

// references returns the replies about the references of a declaration, by name; nil if one of them was not created.
func (p *program) references(ctx context.Context, i int, d Declaration) map[string]*stages.RegisterReply {
	out := map[string]*stages.RegisterReply{}
	names := append(d.dependencies(), d.Parent, strings.TrimPrefix(d.ID, "of "))
	for _, a := range d.Aliases {
		names = append(names, a.Parent)
	}
	for _, name := range names {
		if first, ok := p.first[name]; !ok || first >= i {
			continue
		}
		r, err := p.replies[name].Wait(ctx)
		if err != nil {
			return nil
		}
		out[name] = r
	}
	return out
}

// output returns the output of a resource that others use.
func (p *program) output(r *stages.RegisterReply) property.Value {
	v, ok := r.Outputs.Get("arn")
	switch {
	case ok:
	case r.Unknown, r.Result != stages.Success && len(r.URN)%2 == 0: // as in SDKs, which do not have the value either
		v = property.Computed()
	case !p.preview || r.Result != stages.Success:
		v = property.String("missing")
	default:
		v = property.Computed()
	}
	if v.HasUnknowns() {
		p.sawUnknown.Store(true)
	}
	return v
}

func (p *program) request(d Declaration, refs map[string]*stages.RegisterReply) *stages.RegisterRequest {
	urnOf := func(name string) urn.URN {
		if r := refs[name]; r != nil {
			return r.URN
		}
		return ""
	}
	req := &stages.RegisterRequest{
		Type: typeOf(d), Name: d.Name, Custom: d.Kind != Component && d.Kind != Stack, SupportsResultReporting: true, AliasSpecs: true,
		PropertyDependencies: map[string][]urn.URN{}, IgnoreChanges: d.Ignore, ReplaceOnChanges: d.ReplaceOn, DeleteBeforeReplace: d.DeleteFirst,
		AdditionalSecretOutputs: d.SecretOutputs, Parent: urnOf(d.Parent), DeletedWith: urnOf(d.DeletedWith),
	}
	if req.Custom && d.Kind != Provider {
		req.Package.Version = p.op.Version
		req.ImportID = d.ID
	}
	p.inputs(d, refs, req)
	for _, name := range d.DependsOn {
		if u := urnOf(name); u != "" {
			req.Dependencies = append(req.Dependencies, u)
		}
	}
	if u := urnOf(d.ReplaceWith); u != "" {
		req.ReplaceWith = []urn.URN{u}
	}
	if d.Kind != Provider && d.Kind != Stack {
		req.Provider = p.providerOf(d, refs)
	}
	for _, a := range d.Aliases {
		req.Aliases = append(req.Aliases, urn.Alias{Name: a.Name, Type: fullType(a.Type), Parent: urnOf(a.Parent), NoParent: a.NoParent})
	}
	if d.Trigger != "" {
		req.ReplacementTrigger = property.String(d.Trigger)
	}
	for kind, name := range d.Hooks {
		if kind == "OnError" {
			name = "error " + name
		}
		if req.Hooks == nil {
			req.Hooks = map[string][]string{}
		}
		req.Hooks[kind] = []string{name}
	}
	yes := true
	if d.Protect {
		req.Protect = &yes
	}
	if d.Retain {
		req.RetainOnDelete = &yes
	}
	return req
}

func (p *program) inputs(d Declaration, refs map[string]*stages.RegisterReply, req *stages.RegisterRequest) {
	inputs := map[string]property.Value{}
	for k, v := range d.Values {
		inputs[k] = property.String(v)
		if k == "unhealthy" {
			inputs[k] = property.Bool(true)
		}
		req.PropertyDependencies[k] = nil
	}
	for _, k := range sorted(d.Refs) {
		r := refs[d.Refs[k]]
		if r == nil {
			continue
		}
		inputs[k] = p.output(r)
		req.PropertyDependencies[k] = []urn.URN{r.URN}
		req.Dependencies = append(req.Dependencies, r.URN)
	}
	for _, k := range sorted(d.Outputs) {
		if v, ok := p.outputs.Get(d.Outputs[k]); ok {
			inputs[k] = v
			req.PropertyDependencies[k] = nil
		}
	}
	for _, k := range d.Secret {
		if v, ok := inputs[k]; ok {
			inputs[k] = property.Secret(v)
		}
	}
	req.Inputs = property.NewMap(inputs)
}

func (p *program) providerOf(d Declaration, refs map[string]*stages.RegisterReply) string {
	r := refs[d.Provider]
	if r == nil || !r.URN.Type().IsProvider() {
		return ""
	}
	return urn.ProviderRef{URN: r.URN, ID: cmp.Or(r.ID, urn.UnknownID)}.String()
}

func (p *program) readRequest(d Declaration, refs map[string]*stages.RegisterReply) *stages.ReadRequest {
	req := &stages.ReadRequest{Type: typeOf(d), Name: d.Name, ID: property.String(d.ID), Provider: p.providerOf(d, refs)}
	req.Package.Version = p.op.Version
	if r := refs[d.Parent]; r != nil {
		req.Parent = r.URN
	}
	if name, ok := strings.CutPrefix(d.ID, "of "); ok {
		req.ID = property.Computed()
		if r := refs[name]; r != nil && r.ID != "" {
			req.ID = property.String(r.ID)
			req.Dependencies = []urn.URN{r.URN}
		} else {
			p.sawUnknown.Store(true)
		}
	}
	return req
}

// stackReferenceType is the type that a program reads to get the outputs of another stack.
const stackReferenceType urn.Type = "pulumi:pulumi:StackReference"

// readStack reads the outputs of the other stack, if the program uses any.
func (p *program) readStack(ctx context.Context, m stages.Monitor) error {
	for _, d := range p.op.Program {
		if len(d.Outputs) == 0 {
			continue
		}
		name := strings.ReplaceAll(stackName, "/dev", "/other")
		r, err := m.Read(ctx, &stages.ReadRequest{
			Type: stackReferenceType, Name: name, ID: property.String(name),
			Properties: property.NewMap(map[string]property.Value{"name": property.String(name)}),
		})
		if err != nil {
			return err
		}
		p.outputs = r.Outputs.At("outputs").AsMap()
		return nil
	}
	return nil
}

// hooks returns the hooks of programs: one succeeds and one fails.
func hooks() []stages.Hook {
	return []stages.Hook{
		{Name: "well", Run: func(context.Context, stages.HookInput) error { return nil }},
		{Name: "ill", Run: func(context.Context, stages.HookInput) error { return errHook }},
	}
}

// errorHooks returns the hooks that are called after failures: one requests two retries, one none.
func errorHooks() []stages.ErrorHook {
	return []stages.ErrorHook{
		{Name: "error well", Run: func(_ context.Context, in stages.HookInput) (bool, error) { return len(in.Errors) < 3, nil }},
		{Name: "error ill", Run: func(context.Context, stages.HookInput) (bool, error) { return false, errHook }},
	}
}

func typeOf(d Declaration) urn.Type {
	switch d.Kind {
	case Component:
		return "test:index:Group"
	case Provider:
		return "pulumi:providers:test"
	case Stack:
		return urn.RootStackType
	}
	return cmp.Or(fullType(d.Type), "test:index:Thing")
}

func fullType(name string) urn.Type {
	if name == "" {
		return ""
	}
	return urn.Type("test:index:" + name)
}

func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
