package providers

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/urn"
)

// resources is the provider of provider resources. The methods that make no sense for them return errors.
type resources struct {
	Unimplemented
	registry *Registry
}

// Check starts the provider that the inputs name and makes it check its configuration. The instance is kept until Create,
// Update or Same configures it; a second Check of the same URN replaces it. News and the answer include the engine-owned
// inputs, Olds may. A provider that cannot be started is an error; invalid inputs are failures (steps.md 3.13).
func (p *resources) Check(ctx context.Context, req CheckRequest) (CheckResponse, error) {
	spec, err := SpecFromInputs(req.Type, req.News)
	var bad *SpecError
	if errors.As(err, &bad) {
		return CheckResponse{Failures: []CheckFailure{{Property: bad.Property, Reason: bad.Reason}}}, nil
	}
	if err != nil {
		return CheckResponse{}, err
	}
	i, err := p.registry.load(ctx, spec)
	if err != nil {
		return CheckResponse{}, err
	}

	asked := req
	asked.Olds, asked.News = Configuration(req.Olds), Configuration(req.News)
	// Outside previews, the configuration may still contain unknowns of a resource that failed (steps.md 9.4).
	asked.AllowUnknowns = req.AllowUnknowns || asked.Olds.HasUnknowns() || asked.News.HasUnknowns()
	answer, err := i.CheckConfig(ctx, asked)
	if err == nil && len(answer.Failures) == 0 {
		answer.Inputs, err = p.accept(i, asked, req.News, answer.Inputs)
	}
	if err != nil || len(answer.Failures) > 0 {
		p.registry.unload(i)
		return answer, err
	}

	before, replaced := p.registry.takeChecked(req.URN)
	if replaced {
		p.registry.unload(before)
	}
	p.registry.mu.Lock()
	p.registry.checked[req.URN] = i
	p.registry.mu.Unlock()
	return answer, nil
}

// accept returns the inputs that a provider has returned, with the engine-owned ones of sent. It refuses values that a
// provider makes unknown outside a preview: the provider would be recorded with them and never be configured.
func (p *resources) accept(i *instance, asked CheckRequest, sent, returned property.Map) (property.Map, error) {
	if !asked.AllowUnknowns && returned.HasUnknowns() {
		var names []string
		for name, v := range returned.All() {
			if v.HasUnknowns() {
				names = append(names, strconv.Quote(name))
			}
		}
		return property.Map{}, fmt.Errorf("check the configuration of %s: provider %s answered with unknown values for %s outside a preview; "+
			"this is a bug in the provider", asked.URN, i.name(), strings.Join(names, ", "))
	}
	return p.restore(asked.URN, sent, returned)
}

// restore puts the engine-owned inputs back into the inputs that a provider returned.
func (p *resources) restore(u urn.URN, sent, returned property.Map) (property.Map, error) {
	inputs := returned.Mutable()
	if _, ok := inputs[InternalKey]; ok {
		p.registry.options.Warn(u, fmt.Sprintf("the provider returned a property %q, which is reserved for the engine; it is ignored",
			InternalKey))
		delete(inputs, InternalKey)
	}
	if internal, ok := sent.Get(InternalKey); ok {
		inputs[InternalKey] = internal
	}
	if version, ok := sent.Get(VersionKey); ok {
		if now, kept := inputs[VersionKey]; kept && !sameText(now, version) {
			return property.Map{}, fmt.Errorf("provider %q attempted to change version from %q to %q",
				u, text(version), text(now))
		}
		inputs[VersionKey] = version
	}
	return property.NewMap(inputs), nil
}

func text(v property.Value) string {
	inner, _ := v.Unwrap()
	return inner.AsString()
}

func sameText(a, b property.Value) bool {
	x, _ := a.Unwrap()
	y, _ := b.Unwrap()
	return x.IsString() && y.IsString() && x.AsString() == y.AsString()
}

// Diff calls the checked instance, or else the one that is configured under the ID, to compare the configurations. After
// an answer of "unknown" it compares the old outputs with the new inputs, "__internal" left out (steps.md 3.13). A
// provider that is to be replaced stays loaded: it still has to delete its objects.
func (p *resources) Diff(ctx context.Context, req DiffRequest) (DiffResponse, error) {
	i, err := p.differ(ctx, req)
	if err != nil {
		return DiffResponse{}, err
	}
	asked := req
	asked.OldInputs = Configuration(req.OldInputs)
	asked.OldOutputs = Configuration(req.OldOutputs)
	asked.NewInputs = Configuration(req.NewInputs)
	asked.AllowUnknowns = true
	answer, err := i.DiffConfig(ctx, asked)
	if err != nil {
		return DiffResponse{}, err
	}
	if answer.Changes == DiffUnknown {
		answer.Changes = DiffSome
		if property.EqualMaps(asked.OldOutputs, asked.NewInputs) {
			answer.Changes = DiffNone
		}
	}
	return answer, nil
}

// differ returns the instance that compares. There is no checked instance when a provider is compared only because one of
// its dependencies is to be deleted and replaced.
func (p *resources) differ(ctx context.Context, req DiffRequest) (Provider, error) {
	ref := urn.ProviderRef{URN: req.URN, ID: req.ID}
	p.registry.mu.Lock()
	i, ok := p.registry.checked[req.URN]
	if !ok {
		i, ok = p.registry.find(ref)
	}
	p.registry.mu.Unlock()
	if ok {
		return i, nil
	}
	return p.registry.Ensure(ctx, ref, req.OldInputs)
}

// Create gives the checked provider an ID and begins to configure it. In a preview the ID is [urn.UnknownID]. The
// outputs are the inputs without "__internal".
func (p *resources) Create(ctx context.Context, req CreateRequest) (CreateResponse, error) {
	id := urn.UnknownID
	if !req.Preview {
		id = p.registry.options.NewID(req.URN)
	}
	if err := p.configureChecked(ctx, urn.ProviderRef{URN: req.URN, ID: id}, req.Properties); err != nil {
		return CreateResponse{}, err
	}
	return CreateResponse{ID: id, Properties: Configuration(req.Properties)}, nil
}

// Update begins to configure the checked provider under the resource's ID. From now on Lookup returns it.
func (p *resources) Update(ctx context.Context, req UpdateRequest) (UpdateResponse, error) {
	ref := urn.ProviderRef{URN: req.URN, ID: req.ID}
	if err := p.configureChecked(ctx, ref, req.NewInputs); err != nil {
		return UpdateResponse{}, err
	}
	return UpdateResponse{Properties: Configuration(req.NewInputs)}, nil
}

// configureChecked starts a provider if Check has not done it: a library caller may plan without checking.
func (p *resources) configureChecked(ctx context.Context, ref urn.ProviderRef, inputs property.Map) error {
	i, ok := p.registry.takeChecked(ref.URN)
	if !ok {
		var err error
		if i, err = p.registry.loadFor(ctx, ref, inputs); err != nil {
			return err
		}
	}
	p.registry.install(i, configuration{ref: ref, inputs: inputs}, true)
	return nil
}

// Delete unloads the provider: it is closed when the last call on it has returned. For a provider that was never loaded
// it does nothing.
func (p *resources) Delete(_ context.Context, req DeleteRequest) error {
	ref := urn.ProviderRef{URN: req.URN, ID: req.ID}
	p.registry.mu.Lock()
	i, ok := p.registry.ready[ref]
	delete(p.registry.ready, ref)
	p.registry.mu.Unlock()
	if ok {
		p.registry.unload(i)
	}
	return nil
}

// Read is refused: provider resources exist only in the state (steps.md 3.13).
func (p *resources) Read(context.Context, ReadRequest) (ReadResponse, error) {
	return ReadResponse{}, errors.New("provider resources may not be read")
}
