package native

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/urn"
)

// New returns a provider of the package.
func New(p Package, o Options) providers.Provider {
	life, end := context.WithCancel(context.Background())
	return &provider{
		Unimplemented: providers.Unimplemented{PackageName: p.Name}, description: p, options: o.Complete(), life: life, end: end,
	}
}

type provider struct {
	providers.Unimplemented
	description Package
	options     Options
	// life ends when the provider is cancelled or closed.
	life context.Context
	end  context.CancelFunc
}

func (p *provider) resource(t urn.Type) (*Resource, error) {
	for i := range p.description.Resources {
		if p.description.Resources[i].Type == t {
			return &p.description.Resources[i], nil
		}
	}
	return nil, fmt.Errorf("the built-in provider %q has no resource type %q; install the plugin of that package if a newer "+
		"one has it", p.description.Name, t)
}

// during returns a context for one call: it ends with the provider and after timeout seconds, if that is not 0.
func (p *provider) during(ctx context.Context, timeout float64) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(p.life, func() { cancel(fmt.Errorf("the provider was cancelled")) })
	done := func() { stop(); cancel(nil) }
	if timeout <= 0 {
		return ctx, done
	}
	limit := time.Duration(timeout * float64(time.Second))
	ctx, release := context.WithTimeoutCause(ctx, limit, fmt.Errorf("it took longer than %v", limit))
	return ctx, func() { release(); done() }
}

func (p *provider) call(fields []Field, u urn.URN, name, id string, inputs, state property.Map) Call {
	return Call{
		URN: u, Name: name, ID: id, Inputs: ValuesOf(inputs), State: ValuesOf(state), Secretive: secretive(fields, inputs),
		Log: func(m Message) { m.URN = u; p.options.Log(m) },
	}
}

func (p *provider) enter(ctx context.Context, m providers.Method, c Call) error {
	if p.description.Enter == nil {
		return nil
	}
	return p.description.Enter(ctx, m, c)
}

// begin is enter before an operation, which is not called any more if ctx has ended.
func (p *provider) begin(ctx context.Context, m providers.Method, c Call) error {
	if err := p.enter(ctx, m, c); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

// Cancel ends the calls in flight.
func (p *provider) Cancel(context.Context) error {
	p.end()
	return nil
}

// Close ends the provider.
func (p *provider) Close() error {
	p.end()
	if p.description.Close != nil {
		return p.description.Close()
	}
	return nil
}

// CheckConfig checks the configuration. It converts strings where a stack's configuration can hold nothing but strings.
func (p *provider) CheckConfig(_ context.Context, req providers.CheckRequest) (providers.CheckResponse, error) {
	config := req.News.Without(providers.VersionKey, providers.InternalKey)
	failures := &complaints{}
	conformFields(decodeConfig(config, p.description.Config), p.description.Config, "", failures.add)
	return providers.CheckResponse{Inputs: req.News, Failures: failures.list}, nil
}

// Configure receives the configuration.
func (p *provider) Configure(ctx context.Context, req providers.ConfigureRequest) error {
	if p.description.Configure == nil {
		return nil
	}
	config := req.Inputs.Without(providers.VersionKey, providers.InternalKey)
	config = conformFields(decodeConfig(config, p.description.Config), p.description.Config, "", quietly)
	return p.description.Configure(ctx, ValuesOf(config))
}

// Check refuses inputs that do not fit the types. The inputs stay as the program wrote them, without defaults. If the
// public plugin adds defaults, so does Check: the plugin then finds the same state as its own. Inputs that the
// description marks secret become secret.
func (p *provider) Check(ctx context.Context, req providers.CheckRequest) (providers.CheckResponse, error) {
	r, err := p.resource(req.Type)
	if err != nil {
		return providers.CheckResponse{}, err
	}
	news := req.News.DowngradeOutputs()
	failures := &complaints{}
	full := conformFields(news, r.Inputs, "", failures.add)
	ctx, done := p.during(ctx, 0)
	defer done()
	if err := p.enter(ctx, providers.MethodCheck, p.call(r.Inputs, req.URN, req.Name, "", full, property.Map{})); err != nil {
		return providers.CheckResponse{}, err
	}
	if len(failures.list) == 0 && r.Check != nil {
		failures.list = r.Check(ValuesOf(full))
	}
	for _, f := range r.Inputs {
		if v, ok := full.Get(f.Name); ok && p.description.KeepsDefaults && len(failures.list) == 0 {
			news = news.With(f.Name, v)
		}
		v, ok := news.Get(f.Name)
		if inner, _ := v.Unwrap(); ok && f.Secret && !inner.IsNull() {
			news = news.With(f.Name, property.MakeSecret(v))
		}
	}
	return providers.CheckResponse{Inputs: news, Failures: failures.list}, nil
}

// Diff compares the recorded outputs with the names of inputs, from which the resource was made, with the new inputs.
// Both are conformed and have defaults. A change of secretness is no difference.
func (p *provider) Diff(ctx context.Context, req providers.DiffRequest) (providers.DiffResponse, error) {
	r, err := p.resource(req.Type)
	if err != nil {
		return providers.DiffResponse{}, err
	}
	old, now := r.recorded(req.OldInputs, req.OldOutputs), conformFields(req.NewInputs.DowngradeOutputs(), r.Inputs, "", quietly)
	asked := now
	ctx, done := p.during(ctx, 0)
	defer done()
	if err := p.enter(ctx, providers.MethodDiff, p.call(r.Inputs, req.URN, req.Name, req.ID, asked, req.OldOutputs)); err != nil {
		return providers.DiffResponse{}, err
	}
	old, now = r.compared(old), r.compared(now)
	for _, f := range r.chosen(now) {
		if v, ok := old.Get(f.Name); ok {
			now = now.With(f.Name, v) // keep what the resource chose
		}
	}
	answer := providers.DiffResponse{Changes: providers.DiffNone, DetailedDiff: map[string]providers.PropertyDiff{}}
	ignored := func(path property.Path) bool {
		return len(path) == 1 && slices.Contains(req.IgnoreChanges, path.String())
	}
	diff := property.Diff(ValuesOf(old).Map(), ValuesOf(now).Map(), ignored)
	for change := range diff.Changes() {
		answer.DetailedDiff[change.Path.String()] = providers.PropertyDiff{Kind: r.kind(change), InputDiff: true}
	}
	for _, key := range diff.ChangedKeys() {
		answer.Changes = providers.DiffSome
		answer.ChangedKeys = append(answer.ChangedKeys, key)
		if r.replaces(key) {
			answer.ReplaceKeys = append(answer.ReplaceKeys, key)
		}
	}
	if r.Diff != nil {
		r.Diff(p.call(r.Inputs, req.URN, req.Name, req.ID, asked, req.OldOutputs), &answer)
	}
	return answer, nil
}

// Invoke calls a function. If any argument is secret, so is the whole result.
func (p *provider) Invoke(ctx context.Context, req providers.InvokeRequest) (providers.InvokeResponse, error) {
	f, err := p.function(req.Token)
	if err != nil {
		return providers.InvokeResponse{}, err
	}
	failures := &complaints{}
	args := conformFields(req.Args.DowngradeOutputs(), f.Inputs, "", failures.add)
	if len(failures.list) > 0 {
		return providers.InvokeResponse{Failures: failures.list}, nil
	}
	if args.HasUnknowns() {
		return providers.InvokeResponse{Return: f.result(args, nil)}, nil
	}
	ctx, done := p.during(ctx, 0)
	defer done()
	outputs, err := f.Call(ctx, p.call(f.Inputs, "", "", "", args, property.Map{}))
	if err != nil {
		return providers.InvokeResponse{}, fmt.Errorf("%s: %w", req.Token, err)
	}
	return providers.InvokeResponse{Return: f.result(args, outputs)}, nil
}

func (p *provider) function(token string) (*Function, error) {
	for i := range p.description.Functions {
		if p.description.Functions[i].Token == token {
			return &p.description.Functions[i], nil
		}
	}
	return nil, fmt.Errorf("the built-in provider %q has no function %q; install the plugin of that package if a newer one "+
		"has it", p.description.Name, token)
}

// Create makes a resource. In a preview, computed outputs are unknown.
func (p *provider) Create(ctx context.Context, req providers.CreateRequest) (providers.CreateResponse, error) {
	r, err := p.resource(req.Type)
	if err != nil {
		return providers.CreateResponse{}, err
	}
	inputs := conformFields(req.Properties.DowngradeOutputs(), r.Inputs, "", quietly)
	if req.Preview {
		return providers.CreateResponse{Properties: r.state(inputs, r.unknown(inputs, nil))}, nil
	}
	ctx, done := p.during(ctx, req.Timeout)
	defer done()
	c := p.call(r.Inputs, req.URN, req.Name, "", inputs, property.Map{})
	if err := p.begin(ctx, providers.MethodCreate, c); err != nil {
		return providers.CreateResponse{}, err
	}
	made, err := r.Create(ctx, c)
	if err != nil {
		return providers.CreateResponse{}, p.failure(inputs, r.abandoned(ctx, err))
	}
	return providers.CreateResponse{ID: made.ID, Properties: r.state(inputs, made.Outputs)}, nil
}

// Update changes a resource.
func (p *provider) Update(ctx context.Context, req providers.UpdateRequest) (providers.UpdateResponse, error) {
	r, err := p.resource(req.Type)
	if err != nil {
		return providers.UpdateResponse{}, err
	}
	inputs := conformFields(req.NewInputs.DowngradeOutputs(), r.Inputs, "", quietly)
	kept := Outputs{}
	for _, f := range r.chosen(inputs) {
		if v, ok := req.OldOutputs.Get(f.Name); ok {
			kept[f.Name] = v
		}
	}
	if req.Preview {
		return providers.UpdateResponse{Properties: r.state(inputs, r.unknown(inputs, kept))}, nil
	}
	ctx, done := p.during(ctx, req.Timeout)
	defer done()
	c := p.call(r.Inputs, req.URN, req.Name, req.ID, inputs, req.OldOutputs)
	if err := p.begin(ctx, providers.MethodUpdate, c); err != nil {
		return providers.UpdateResponse{}, err
	}
	if r.Update != nil {
		changed, err := r.Update(ctx, c)
		if err != nil {
			return providers.UpdateResponse{}, p.failure(inputs, r.abandoned(ctx, err))
		}
		for name, v := range changed {
			kept[name] = v
		}
	}
	return providers.UpdateResponse{Properties: r.state(inputs, kept)}, nil
}

// Delete deletes a resource.
func (p *provider) Delete(ctx context.Context, req providers.DeleteRequest) error {
	r, err := p.resource(req.Type)
	if err != nil {
		return err
	}
	ctx, done := p.during(ctx, req.Timeout)
	defer done()
	inputs := r.recorded(req.Inputs, req.Outputs)
	c := p.call(r.Inputs, req.URN, req.Name, req.ID, inputs, req.Outputs)
	c.Successor = ValuesOf(req.Successor)
	if err := p.begin(ctx, providers.MethodDelete, c); err != nil || r.Delete == nil {
		return err
	}
	return p.failure(inputs, r.abandoned(ctx, r.Delete(ctx, c)))
}

// Read refreshes a recorded resource, and imports one by its ID alone.
func (p *provider) Read(ctx context.Context, req providers.ReadRequest) (providers.ReadResponse, error) {
	r, err := p.resource(req.Type)
	if err != nil {
		return providers.ReadResponse{}, err
	}
	ctx, done := p.during(ctx, req.Timeout)
	defer done()
	c := p.call(r.Inputs, req.URN, req.Name, req.ID, r.recorded(req.Inputs, req.State), req.State)
	if err := p.enter(ctx, providers.MethodRead, c); err != nil {
		return providers.ReadResponse{}, err
	}
	if req.State.Len() == 0 {
		return p.imported(ctx, r, req)
	}
	answer := providers.ReadResponse{ID: req.ID, Inputs: req.Inputs, HasInputs: true, Properties: req.State}
	if r.Read == nil {
		answer.Unread = true
		return answer, nil
	}
	found, err := r.Read(ctx, c)
	if err != nil {
		return providers.ReadResponse{}, p.failure(req.Inputs, err)
	}
	if found.Absent {
		return providers.ReadResponse{Absent: true}, nil
	}
	answer.ID = cmp.Or(found.ID, req.ID)
	for name, v := range found.Outputs {
		v = r.secretAs(name, v, req.State.At(name))
		answer.Properties = answer.Properties.With(name, v)
		if _, ok := req.Inputs.Get(name); ok {
			answer.Inputs = answer.Inputs.With(name, v)
		}
	}
	return answer, nil
}

func (p *provider) imported(ctx context.Context, r *Resource, req providers.ReadRequest) (providers.ReadResponse, error) {
	if r.Import == nil {
		return providers.ReadResponse{}, fmt.Errorf("a resource of type %s cannot be imported: nothing can be read of it", r.Type)
	}
	made, err := r.Import(ctx, p.call(r.Inputs, req.URN, req.Name, req.ID, property.Map{}, property.Map{}))
	if err != nil {
		return providers.ReadResponse{}, fmt.Errorf("import of %s %q: %w", r.Type, req.ID, err)
	}
	if made.ID == "" {
		return providers.ReadResponse{Absent: true}, nil
	}
	state := r.state(conformFields(r.inputsOf(made.Outputs), r.Inputs, "", quietly), made.Outputs)
	inputs := map[string]property.Value{}
	for _, f := range r.Inputs {
		v, ok := state.Get(f.Name)
		if ok && f.Old == "" && !v.IsNull() && !property.Equal(v.StripSecrets(), f.Default) {
			inputs[f.Name] = v
		}
	}
	return providers.ReadResponse{
		ID: made.ID, Inputs: property.NewMap(inputs), HasInputs: true, Properties: state,
	}, nil
}

// failure makes the outputs of an unhealthy resource as secret as its inputs.
func (p *provider) failure(inputs property.Map, err error) error {
	var unhealthy *providers.InitError
	if errors.As(err, &unhealthy) && inputs.HasSecrets() {
		unhealthy.Properties = property.AnnotateSecrets(unhealthy.Properties, inputs)
	}
	return err
}

// Schema returns the schema of the package (protocol.md 3.12).
func (p *provider) Schema(context.Context, providers.SchemaRequest) (string, error) {
	text, err := json.Marshal(p.description.schema())
	return string(text), err
}

// decodeConfig decodes the objects and lists that stack configurations hold as JSON text (protocol.md 3.3).
func decodeConfig(config property.Map, fields []Field) property.Map {
	for _, f := range fields {
		v, secret := config.At(f.Name).Unwrap()
		structured := f.Type.Kind == KindRecord || f.Type.Kind == KindMap || f.Type.Kind == KindArray
		if !structured || !v.IsString() {
			continue
		}
		decoded, err := property.DecodeStateValue(context.Background(), []byte(v.AsString()), property.StateDecodeOptions{})
		if err != nil {
			continue // conform complains about the type
		}
		if secret {
			decoded = property.MakeSecret(decoded)
		}
		config = config.With(f.Name, decoded)
	}
	return config
}

type complaints struct{ list []providers.CheckFailure }

func (c *complaints) add(path, reason string) {
	c.list = append(c.list, providers.CheckFailure{Property: path, Reason: fmt.Sprintf("property %q %s", path, reason)})
}
