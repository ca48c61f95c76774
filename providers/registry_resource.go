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

// Check starts the provider that the inputs name and makes it check its configuration. The instance is kept until Create,
// Update or Same configures it; a second Check of the same URN replaces it. News and the answer include the engine-owned
// inputs, Olds may. A provider that cannot be started is an error; invalid inputs are failures (steps.md 3.13).
func (r *Registry) Check(ctx context.Context, req CheckRequest) (CheckResponse, error) {
	spec, err := SpecFromInputs(req.Type, req.News)
	var bad *SpecError
	if errors.As(err, &bad) {
		return CheckResponse{Failures: []CheckFailure{{Property: bad.Property, Reason: bad.Reason}}}, nil
	}
	if err != nil {
		return CheckResponse{}, err
	}
	i, err := r.load(ctx, spec)
	if err != nil {
		return CheckResponse{}, err
	}

	asked := req
	asked.Olds, asked.News = Configuration(req.Olds), Configuration(req.News)
	// Outside previews, the configuration may still contain unknowns of a resource that failed (steps.md 9.4).
	asked.AllowUnknowns = req.AllowUnknowns || asked.Olds.HasUnknowns() || asked.News.HasUnknowns()
	answer, err := i.CheckConfig(ctx, asked)
	if err == nil && len(answer.Failures) == 0 {
		answer.Inputs, err = r.accept(i, asked, req.News, answer.Inputs)
	}
	if err != nil || len(answer.Failures) > 0 {
		r.unload(i)
		return answer, err
	}

	before, replaced := r.takeChecked(req.URN)
	if replaced {
		r.unload(before)
	}
	r.mu.Lock()
	r.checked[req.URN] = i
	r.mu.Unlock()
	return answer, nil
}

// accept returns the inputs that a provider has returned, with the engine-owned ones of sent. It refuses values that a
// provider makes unknown outside a preview: the provider would be recorded with them and never be configured.
func (r *Registry) accept(i *instance, asked CheckRequest, sent, returned property.Map) (property.Map, error) {
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
	return r.restore(asked.URN, sent, returned)
}

// restore puts the engine-owned inputs back into the inputs that a provider returned.
func (r *Registry) restore(u urn.URN, sent, returned property.Map) (property.Map, error) {
	inputs := returned.Mutable()
	if _, ok := inputs[InternalKey]; ok {
		r.options.Warn(u, fmt.Sprintf("the provider returned a property %q, which is reserved for the engine; it is ignored",
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
func (r *Registry) Diff(ctx context.Context, req DiffRequest) (DiffResponse, error) {
	p, err := r.differ(ctx, req)
	if err != nil {
		return DiffResponse{}, err
	}
	asked := req
	asked.OldInputs = Configuration(req.OldInputs)
	asked.OldOutputs = Configuration(req.OldOutputs)
	asked.NewInputs = Configuration(req.NewInputs)
	asked.AllowUnknowns = true
	answer, err := p.DiffConfig(ctx, asked)
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
func (r *Registry) differ(ctx context.Context, req DiffRequest) (Provider, error) {
	ref := urn.ProviderRef{URN: req.URN, ID: req.ID}
	r.mu.Lock()
	i, ok := r.checked[req.URN]
	if !ok {
		i, ok = r.find(ref)
	}
	r.mu.Unlock()
	if ok {
		return i, nil
	}
	return r.Ensure(ctx, ref, req.OldInputs)
}

// Create gives the checked provider an ID and begins to configure it. In a preview the ID is [urn.UnknownID]. The
// outputs are the inputs without "__internal".
func (r *Registry) Create(ctx context.Context, req CreateRequest) (CreateResponse, error) {
	id := urn.UnknownID
	if !req.Preview {
		id = r.options.NewID(req.URN)
	}
	if err := r.configureChecked(ctx, urn.ProviderRef{URN: req.URN, ID: id}, req.Properties); err != nil {
		return CreateResponse{}, err
	}
	return CreateResponse{ID: id, Properties: Configuration(req.Properties)}, nil
}

// Update begins to configure the checked provider under the resource's ID. From now on Lookup returns it.
func (r *Registry) Update(ctx context.Context, req UpdateRequest) (UpdateResponse, error) {
	ref := urn.ProviderRef{URN: req.URN, ID: req.ID}
	if err := r.configureChecked(ctx, ref, req.NewInputs); err != nil {
		return UpdateResponse{}, err
	}
	return UpdateResponse{Properties: Configuration(req.NewInputs)}, nil
}

// configureChecked starts a provider if Check has not done it: a library caller may plan without checking.
func (r *Registry) configureChecked(ctx context.Context, ref urn.ProviderRef, inputs property.Map) error {
	i, ok := r.takeChecked(ref.URN)
	if !ok {
		var err error
		if i, err = r.loadFor(ctx, ref, inputs); err != nil {
			return err
		}
	}
	r.install(i, configuration{ref: ref, inputs: inputs}, true)
	return nil
}

// Delete unloads the provider: it is closed when the last call on it has returned. For a provider that was never loaded
// it does nothing.
func (r *Registry) Delete(_ context.Context, req DeleteRequest) error {
	ref := urn.ProviderRef{URN: req.URN, ID: req.ID}
	r.mu.Lock()
	i, ok := r.ready[ref]
	delete(r.ready, ref)
	r.mu.Unlock()
	if ok {
		r.unload(i)
	}
	return nil
}

// Read is refused: provider resources exist only in the state (steps.md 3.13).
func (r *Registry) Read(context.Context, ReadRequest) (ReadResponse, error) {
	return ReadResponse{}, errors.New("provider resources may not be read")
}

// Same makes the provider of an unchanged provider resource available. inputs are those of the recorded state: a change
// that the provider considers meaningless does not reach it (steps.md 3.13). The checked instance is used if there is
// one. A reference that [Registry.Ensure] has already made available keeps its instance, which has the same
// configuration.
func (r *Registry) Same(ctx context.Context, ref urn.ProviderRef, inputs property.Map) error {
	if i, ok := r.takeChecked(ref.URN); ok {
		r.install(i, configuration{ref: ref, inputs: inputs}, false)
		return nil
	}
	if _, err := r.Ensure(ctx, ref, inputs); err != nil {
		return fmt.Errorf("bad provider state for resource %v: %w", ref.URN, err)
	}
	return nil
}

// Ensure returns the provider that ref names. If it is not there it is started and configured with the inputs of its
// recorded state (steps.md 3.3). It never touches an instance that Check has started for the same URN (ORD-10), and
// concurrent calls for one reference start one provider. A failure is not kept.
func (r *Registry) Ensure(ctx context.Context, ref urn.ProviderRef, inputs property.Map) (Provider, error) {
	if p, ok := r.Lookup(ref); ok {
		return p, nil
	}
	i, err := r.starts.DoOn(ctx, r.background, ref, func() (*instance, error) {
		defer r.starts.Forget(ref)
		return r.start(ref, inputs)
	})
	if err != nil {
		return nil, err
	}
	return i, nil
}

// Recorded is like Ensure for a provider with the configuration inputs of its recorded state. If the run has given it another
// configuration, a second instance is started beside the one that Lookup returns.
func (r *Registry) Recorded(ctx context.Context, ref urn.ProviderRef, inputs property.Map) (Provider, error) {
	p, err := r.Ensure(ctx, ref, inputs)
	if err != nil || property.EqualMaps(p.(*instance).inputs, inputs) {
		return p, err
	}
	i, err := r.recorded.DoOn(ctx, r.background, ref, func() (*instance, error) {
		i, err := r.loadFor(r.run, ref, inputs)
		if err != nil {
			r.recorded.Forget(ref)
			return nil, err
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.beginConfiguring(i, configuration{ref: ref, inputs: inputs})
		return i, nil
	})
	if err != nil {
		return nil, err
	}
	return i, nil
}

// start checks again before it starts anything: another start may have ended since the caller checked.
func (r *Registry) start(ref urn.ProviderRef, inputs property.Map) (*instance, error) {
	r.mu.Lock()
	i, ok := r.find(ref)
	closed := r.closed
	r.mu.Unlock()
	switch {
	case ok:
		return i, nil
	case closed:
		return nil, errRegistryClosed
	}
	i, err := r.loadFor(r.run, ref, inputs)
	if err != nil {
		return nil, err
	}
	return r.install(i, configuration{ref: ref, inputs: inputs}, false), nil
}

// loadFor starts a provider for a reference. Errors name it.
func (r *Registry) loadFor(ctx context.Context, ref urn.ProviderRef, inputs property.Map) (*instance, error) {
	spec, err := SpecFromInputs(ref.URN.Type(), inputs)
	if err != nil {
		return nil, fmt.Errorf("could not create provider %v: %w", ref, err)
	}
	var i *instance
	if p := tryPanics(func() { i, err = r.load(ctx, spec) }); p != nil {
		err = p
	}
	if err != nil {
		return nil, fmt.Errorf("could not create provider %v: %w", ref, err)
	}
	return i, nil
}
