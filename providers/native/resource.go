package native

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
)

// metaKey is the output in which the public plugins of bridged packages record the schema version of a state.
const metaKey = "__meta"

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
	if err := p.enter(ctx, providers.MethodCreate, c); err != nil {
		return providers.CreateResponse{}, err
	}
	made, err := r.Create(ctx, c)
	if err != nil {
		return providers.CreateResponse{}, p.failure(inputs, err)
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
	if err := p.enter(ctx, providers.MethodUpdate, c); err != nil {
		return providers.UpdateResponse{}, err
	}
	if r.Update != nil {
		changed, err := r.Update(ctx, c)
		if err != nil {
			return providers.UpdateResponse{}, p.failure(inputs, err)
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
	if err := p.enter(ctx, providers.MethodDelete, c); err != nil || r.Delete == nil {
		return err
	}
	return p.failure(inputs, r.Delete(ctx, c))
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
	answer := providers.ReadResponse{ID: req.ID, Exists: true, Inputs: req.Inputs, HasInputs: true, Properties: req.State}
	if r.Read == nil {
		return answer, nil
	}
	found, err := r.Read(ctx, c)
	if err != nil {
		return providers.ReadResponse{}, p.failure(req.Inputs, err)
	}
	if !found.Exists {
		return providers.ReadResponse{}, nil
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

// secretAs makes a value that was read secret if the recorded one was, or if the description requires it.
func (r *Resource) secretAs(name string, v, recorded property.Value) property.Value {
	for _, f := range append(r.Computed[:len(r.Computed):len(r.Computed)], r.Inputs...) {
		if f.Name == name && f.Secret {
			return property.MakeSecret(v)
		}
	}
	if recorded.HasSecrets() {
		return property.MakeSecret(v)
	}
	return v
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
		return providers.ReadResponse{}, nil
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
		ID: made.ID, Exists: true, Inputs: property.NewMap(inputs), HasInputs: true, Properties: state,
	}, nil
}

func (r *Resource) inputsOf(all Outputs) property.Map {
	out := map[string]property.Value{}
	for _, f := range r.Inputs {
		if v, ok := all[f.Name]; ok {
			out[f.Name] = v
		}
	}
	return property.NewMap(out)
}

// state returns the outputs of a resource with these inputs, which are conformed and have their defaults.
func (r *Resource) state(inputs property.Map, computed Outputs) property.Map {
	out := inputs.Mutable()
	secrets := secretive(r.Inputs, inputs)
	for _, f := range append(r.Computed[:len(r.Computed):len(r.Computed)], r.Inputs...) {
		v, ok := computed[f.Name]
		if !ok || v.IsNull() {
			continue
		}
		if f.Secret || f.Derived && secrets {
			v = property.MakeSecret(v)
		}
		out[f.Name] = v
	}
	for _, f := range r.Inputs {
		if f.Output == Unrecorded {
			delete(out, f.Name)
		}
	}
	if r.SchemaVersion != "" {
		out[metaKey] = property.String(fmt.Sprintf(`{"schema_version":%q}`, r.SchemaVersion))
	}
	return property.NewMap(out)
}

// chosen returns the outputs for which the resource chooses a value.
func (r *Resource) chosen(inputs property.Map) []Field {
	out := r.Computed[:len(r.Computed):len(r.Computed)]
	for _, f := range r.Inputs {
		if _, given := inputs.Get(f.Name); f.Output == Chosen && !given {
			out = append(out, f)
		}
	}
	return out
}

// unknown returns the computed outputs for a preview: kept ones have their values, the others are unknown.
func (r *Resource) unknown(inputs property.Map, kept Outputs) Outputs {
	out := Outputs{}
	for _, f := range r.chosen(inputs) {
		switch v, ok := kept[f.Name]; {
		case ok && !f.Derived:
			out[f.Name] = v
		case kept == nil || f.Derived:
			out[f.Name] = property.Computed()
		}
	}
	return out
}

// failure makes the outputs of an unhealthy resource as secret as its inputs.
func (p *provider) failure(inputs property.Map, err error) error {
	var unhealthy *providers.InitError
	if errors.As(err, &unhealthy) && inputs.HasSecrets() {
		unhealthy.Properties = property.AnnotateSecrets(unhealthy.Properties, inputs)
	}
	return err
}
