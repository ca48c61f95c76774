package builtin

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/urn"
)

// Package is the package that this provider serves.
const Package = "pulumi"

// The types and functions of the package.
const (
	StackReference urn.Type = "pulumi:pulumi:StackReference"
	Stash          urn.Type = "pulumi:index:Stash"

	GetResource              = "pulumi:pulumi:getResource"
	ReadStackOutputs         = "pulumi:pulumi:readStackOutputs"
	ReadStackResourceOutputs = "pulumi:pulumi:readStackResourceOutputs"
)

// Options are the sources of the provider's data. Its functions are called from many goroutines; a nil function makes
// every use of it an error.
type Options struct {
	// StackOutputs returns the root outputs of another stack, decrypted, with secrets as secret values. name is "<stack>",
	// or "<organization>/<project>/<stack>". A stack that does not exist is an error `unknown stack "name"`. The function
	// decides how to treat values that cannot be decrypted (state.md 8).
	StackOutputs func(ctx context.Context, name string) (property.Map, error)
	// StackResources returns the live resources of another stack, without those that await deletion.
	StackResources func(ctx context.Context, name string) ([]Resource, error)
	// Resource returns a resource that was registered or read in this run and whose step is complete.
	Resource func(u urn.URN) (Resource, bool)
	// Warn receives messages for the user about a resource; nil discards.
	Warn func(u urn.URN, message string)
	// NewID makes IDs; nil makes random UUIDs.
	NewID func() string
}

// Resource is a resource of this or another stack.
type Resource struct {
	URN      urn.URN
	Type     urn.Type
	ID       string // "" for components
	Provider string
	Outputs  property.Map
}

// Host returns a host that starts this provider for the package "pulumi" in any version, and starts all others through
// next.
func Host(o Options, next providers.Host) providers.Host {
	return providers.HostFunc(func(ctx context.Context, spec providers.Spec) (providers.Provider, error) {
		if spec.Package == Package {
			return New(o), nil
		}
		return next.Load(ctx, spec)
	})
}

// New returns the provider. It needs no configuration.
func New(o Options) providers.Provider {
	if o.Warn == nil {
		o.Warn = func(urn.URN, string) {}
	}
	if o.NewID == nil {
		o.NewID = uuid.NewString
	}
	return &provider{Unimplemented: providers.Unimplemented{PackageName: Package}, options: o}
}

type provider struct {
	providers.Unimplemented
	options Options
}

func unknownType(t urn.Type) error { return fmt.Errorf("unrecognized resource type '%v'", t) }

func unknownFunction(token string) error {
	return fmt.Errorf("unrecognized function name: '%v'", token)
}

// onlyProperty checks inputs that consist of one required property.
func onlyProperty(inputs property.Map, name string) []providers.CheckFailure {
	var failures []providers.CheckFailure
	for _, key := range inputs.Names() {
		if key != name && !property.IsInternalName(key) {
			failures = append(failures, providers.CheckFailure{Property: key, Reason: fmt.Sprintf("unknown property %q", key)})
		}
	}
	if _, ok := inputs.Get(name); !ok {
		failures = append(failures, providers.CheckFailure{
			Property: name, Reason: fmt.Sprintf("missing required property %q", name),
		})
	}
	return failures
}

func (p *provider) Check(_ context.Context, req providers.CheckRequest) (providers.CheckResponse, error) {
	switch req.Type {
	case StackReference:
		p.options.Warn(req.URN, "managing a stack reference as a resource is deprecated; read it, as current SDKs do")
		failures := onlyProperty(req.News, "name")
		if v, _ := req.News.At("name").Unwrap(); len(failures) == 0 && !v.IsString() && !v.IsUnknown() {
			failures = append(failures, providers.CheckFailure{Property: "name", Reason: `property "name" must be a string`})
		}
		return providers.CheckResponse{Inputs: req.News, Failures: failures}, nil
	case Stash:
		return providers.CheckResponse{Inputs: req.News, Failures: onlyProperty(req.News, "input")}, nil
	}
	return providers.CheckResponse{}, unknownType(req.Type)
}

// Diff replaces a stack reference whose name changed and updates a stash whose input changed.
func (p *provider) Diff(_ context.Context, req providers.DiffRequest) (providers.DiffResponse, error) {
	name, kind := "name", providers.DiffUpdateReplace
	switch req.Type {
	case StackReference:
	case Stash:
		name, kind = "input", providers.DiffUpdate
	default:
		return providers.DiffResponse{}, unknownType(req.Type)
	}
	old, now := req.OldInputs.At(name), req.NewInputs.At(name)
	_, filled := req.OldOutputs.Get("output")
	_, given := req.NewInputs.Get(name)
	imported := req.Type == Stash && !filled && given // and its input is not stashed yet
	if property.Equal(old, now) && !now.HasUnknowns() && !imported {
		return providers.DiffResponse{Changes: providers.DiffNone}, nil
	}
	answer := providers.DiffResponse{
		Changes: providers.DiffSome, ChangedKeys: []string{name},
		DetailedDiff: map[string]providers.PropertyDiff{name: {Kind: kind, InputDiff: true}},
	}
	if kind.IsReplace() {
		answer.ReplaceKeys = []string{name}
	}
	return answer, nil
}

func (p *provider) Create(ctx context.Context, req providers.CreateRequest) (providers.CreateResponse, error) {
	var out property.Map
	switch req.Type {
	case StackReference:
		state, err := p.stackReference(ctx, req.Properties.At("name"))
		if err != nil {
			return providers.CreateResponse{}, err
		}
		out = state
	case Stash:
		out = req.Properties.With("output", req.Properties.At("input"))
	default:
		return providers.CreateResponse{}, unknownType(req.Type)
	}
	if req.Preview {
		return providers.CreateResponse{Properties: out}, nil
	}
	return providers.CreateResponse{ID: p.options.NewID(), Properties: out}, nil
}

// Update lets a stash keep its output; an imported one has none, and gets it with its first input. Stack references are replaced, never updated.
func (p *provider) Update(_ context.Context, req providers.UpdateRequest) (providers.UpdateResponse, error) {
	if req.Type != Stash {
		return providers.UpdateResponse{}, fmt.Errorf("a resource of type '%v' cannot be updated", req.Type)
	}
	kept, filled := req.OldOutputs.Get("output")
	if !filled {
		kept = req.NewInputs.At("input")
	}
	return providers.UpdateResponse{Properties: req.NewInputs.With("output", kept)}, nil
}

func (p *provider) Delete(_ context.Context, req providers.DeleteRequest) error {
	if req.Type != StackReference && req.Type != Stash {
		return unknownType(req.Type)
	}
	return nil
}

// Read reads the other stack again, which cannot be found by its ID alone; a stash stays as it is.
func (p *provider) Read(ctx context.Context, req providers.ReadRequest) (providers.ReadResponse, error) {
	switch req.Type {
	case StackReference:
		name, ok := req.State.Get("name")
		if !ok {
			name, ok = req.Inputs.Get("name")
		}
		if !ok {
			return providers.ReadResponse{}, errors.New("stack reference can not be imported")
		}
		state, err := p.stackReference(ctx, name)
		if err != nil {
			return providers.ReadResponse{}, err
		}
		return found(req, property.NewMap(map[string]property.Value{"name": name}), state), nil
	case Stash:
		return found(req, req.Inputs, req.State), nil // an imported one has nothing yet
	}
	return providers.ReadResponse{}, unknownType(req.Type)
}

func found(req providers.ReadRequest, inputs, state property.Map) providers.ReadResponse {
	return providers.ReadResponse{ID: req.ID, Inputs: inputs, HasInputs: true, Properties: state}
}

var errNoStacks = errors.New("other stacks cannot be read here: this run has no backend")

// Invoke calls one of the package's functions.
func (p *provider) Invoke(ctx context.Context, req providers.InvokeRequest) (providers.InvokeResponse, error) {
	var result property.Map
	var err error
	switch req.Token {
	case ReadStackOutputs:
		result, err = p.readStackOutputs(ctx, req.Args)
	case ReadStackResourceOutputs:
		result, err = p.readStackResourceOutputs(ctx, req.Args)
	case GetResource:
		result, err = p.getResource(req.Args)
	default:
		err = unknownFunction(req.Token)
	}
	return providers.InvokeResponse{Return: result}, err
}

func argument(args property.Map, name string) (string, error) {
	v, _ := args.At(name).Unwrap()
	if _, ok := args.Get(name); !ok {
		return "", fmt.Errorf("missing required property %q", name)
	}
	if !v.IsString() {
		return "", fmt.Errorf("property %q must be a string", name)
	}
	return v.AsString(), nil
}

// stackReference returns the outputs of a stack reference; unknown ones if the name is unknown.
func (p *provider) stackReference(ctx context.Context, name property.Value) (property.Map, error) {
	inner, _ := name.Unwrap()
	if inner.IsUnknown() {
		return property.NewMap(map[string]property.Value{
			"name": name, "outputs": property.Computed(), "secretOutputNames": property.Computed(),
		}), nil
	}
	if !inner.IsString() {
		return property.Map{}, errors.New(`property "name" must be a string`)
	}
	if p.options.StackOutputs == nil {
		return property.Map{}, errNoStacks
	}
	outputs, err := p.options.StackOutputs(ctx, inner.AsString())
	if err != nil {
		return property.Map{}, err
	}
	// Older SDKs use the names to find the secret outputs.
	var secrets []property.Value
	for key, v := range outputs.All() {
		if v.HasSecrets() {
			secrets = append(secrets, property.String(key))
		}
	}
	return property.NewMap(map[string]property.Value{
		"name": name, "outputs": property.Of(outputs), "secretOutputNames": property.ArrayOf(secrets...),
	}), nil
}

func (p *provider) readStackOutputs(ctx context.Context, args property.Map) (property.Map, error) {
	name, err := argument(args, "name")
	if err != nil {
		return property.Map{}, err
	}
	return p.stackReference(ctx, property.String(name))
}

func (p *provider) readStackResourceOutputs(ctx context.Context, args property.Map) (property.Map, error) {
	name, err := argument(args, "stackName")
	if err != nil {
		return property.Map{}, err
	}
	if p.options.StackResources == nil {
		return property.Map{}, errNoStacks
	}
	resources, err := p.options.StackResources(ctx, name)
	if err != nil {
		return property.Map{}, err
	}
	outputs := make(map[string]property.Value, len(resources))
	for _, r := range resources {
		outputs[string(r.URN)] = property.Of(property.NewMap(map[string]property.Value{
			"type": property.String(string(r.Type)), "outputs": property.Of(r.Outputs),
		}))
	}
	return property.NewMap(map[string]property.Value{
		"name": property.String(name), "outputs": property.Of(property.NewMap(outputs)),
	}), nil
}

func (p *provider) getResource(args property.Map) (property.Map, error) {
	text, err := argument(args, "urn")
	if err != nil {
		return property.Map{}, err
	}
	u, err := urn.Parse(text)
	if err != nil {
		return property.Map{}, err
	}
	var r Resource
	ok := p.options.Resource != nil
	if ok {
		r, ok = p.options.Resource(u)
	}
	if !ok {
		return property.Map{}, fmt.Errorf("unknown resource %v", u)
	}
	return property.NewMap(map[string]property.Value{
		"urn": property.String(string(r.URN)), "id": property.String(r.ID),
		"provider": property.String(r.Provider), "state": property.Of(r.Outputs),
	}), nil
}
