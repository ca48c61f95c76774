package direct

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/urn"
)

// The stack and the project in the URNs that providers get. No such stack exists.
const (
	stackName   = "dev"
	projectName = "default"
)

// Provider carries out operations with a provider. Call [Provider.Configure] first.
type Provider struct {
	Inner  providers.Provider
	Schema *Schema
}

// Object is an existing object, or one that a preview predicts.
type Object struct {
	ID              string
	Inputs, Outputs property.Map
	HasInputs       bool   // the provider gave inputs
	Unhealthy       string // the provider's words about an object that exists, but is not healthy; "" if it is
}

// NotFoundError reports that there is no object with an ID.
type NotFoundError struct{ Token, ID string }

func (e *NotFoundError) Error() string {
	return fmt.Sprintf("there is no %s with the ID %q", e.Token, e.ID)
}

// UnhealthyError reports that an operation has made or changed an object that is not healthy now.
type UnhealthyError struct {
	Object Object
	Err    error
}

func (e *UnhealthyError) Error() string { return e.Err.Error() }
func (e *UnhealthyError) Unwrap() error { return e.Err }

// Configure checks the settings of the provider, and configures it.
func (p *Provider) Configure(ctx context.Context, settings property.Map) error {
	typ := urn.ProviderType(p.Schema.Name)
	u := urn.New(stackName, projectName, "", typ, "default")
	settings, err := p.hashed(ctx, p.Schema.Mark(settings, p.Schema.Provider.InputProperties))
	if err != nil {
		return err
	}
	answer, err := p.Inner.CheckConfig(ctx, providers.CheckRequest{URN: u, Name: u.Name(), Type: typ, News: settings})
	if err == nil {
		err = refused("the provider does not accept its settings", answer.Failures)
	}
	if err != nil {
		return err
	}
	id := make([]byte, 16)
	if _, err := rand.Read(id); err != nil {
		return err
	}
	return p.Inner.Configure(ctx, providers.ConfigureRequest{URN: u, Name: u.Name(), Type: typ, ID: hex.EncodeToString(id), Inputs: answer.Inputs})
}

// hashed returns inputs whose assets have hashes.
func (p *Provider) hashed(ctx context.Context, inputs property.Map) (property.Map, error) {
	directory, err := os.Getwd()
	if err != nil {
		return property.Map{}, err
	}
	return property.HashAssets(ctx, inputs, directory)
}

// refused returns an error for inputs that a provider refuses, nil if there are none.
func refused(what string, failures []providers.CheckFailure) error {
	if len(failures) == 0 {
		return nil
	}
	lines := make([]string, len(failures))
	for i, f := range failures {
		lines[i] = "    " + f.Reason
		if f.Property != "" {
			lines[i] = "    " + f.Property + ": " + f.Reason
		}
	}
	return fmt.Errorf("%s:\n%s", what, strings.Join(lines, "\n"))
}

// Check returns the inputs that the provider makes of those of the user. old is the existing object; nil if there is none.
func (p *Provider) Check(ctx context.Context, r *Resource, old *Object, inputs property.Map) (property.Map, error) {
	inputs, err := p.hashed(ctx, p.Schema.Mark(inputs, r.InputProperties))
	if err != nil {
		return property.Map{}, err
	}
	seed := make([]byte, 32)
	if _, err := rand.Read(seed); err != nil {
		return property.Map{}, err
	}
	req := providers.CheckRequest{URN: r.URN(), Name: r.URN().Name(), Type: urn.Type(r.Token), News: inputs, RandomSeed: seed}
	if old != nil {
		req.Olds, req.OldOutputs = old.Inputs, old.Outputs
	}
	answer, err := p.Inner.Check(ctx, req)
	if err == nil {
		err = refused("the provider does not accept the inputs", answer.Failures)
	}
	if err != nil {
		return property.Map{}, err
	}
	return p.Schema.Mark(answer.Inputs, r.InputProperties), nil
}

// Create makes an object of checked inputs. A preview makes none, and predicts its outputs. The error is an *[UnhealthyError] if the object exists.
func (p *Provider) Create(ctx context.Context, r *Resource, inputs property.Map, preview bool) (Object, error) {
	u := r.URN()
	answer, err := p.Inner.Create(ctx, providers.CreateRequest{
		URN: u, Name: u.Name(), Type: u.Type(), Properties: inputs, Preview: preview,
	})
	made := p.object(r, answer.ID, inputs, answer.Properties)
	if unhealthy := (*providers.InitError)(nil); errors.As(err, &unhealthy) {
		made = p.object(r, unhealthy.ID, inputs, unhealthy.Properties)
		return made, &UnhealthyError{made, reasons(unhealthy)}
	}
	if err == nil && made.ID == "" && !preview {
		err = &providers.UncertainError{Err: errors.New("the provider gave no ID for the object"), Lost: true}
	}
	return made, err
}

// reasons returns the error of an object that is not healthy, with the reasons that it does not have in its text.
func reasons(e *providers.InitError) error {
	text := e.Error()
	for _, reason := range e.Reasons {
		if !strings.Contains(text, reason) {
			text += "\n    " + reason
		}
	}
	if text == e.Error() {
		return e
	}
	return errors.New(text)
}

// Read reads an object. The error is a *[NotFoundError] if there is none.
func (p *Provider) Read(ctx context.Context, r *Resource, id string) (Object, error) {
	u := r.URN()
	answer, err := p.Inner.Read(ctx, providers.ReadRequest{URN: u, Name: u.Name(), Type: u.Type(), ID: id})
	unhealthy := (*providers.InitError)(nil)
	switch {
	case errors.As(err, &unhealthy):
		o := p.object(r, unhealthy.ID, unhealthy.Inputs, unhealthy.Properties)
		o.HasInputs, o.Unhealthy = unhealthy.HasInputs, reasons(unhealthy).Error()
		return o, nil
	case err != nil:
		return Object{}, err
	case answer.Validate() != nil:
		return Object{}, answer.Validate()
	case answer.Absent:
		return Object{}, &NotFoundError{r.Token, id}
	}
	o := p.object(r, answer.ID, answer.Inputs, answer.Properties)
	o.HasInputs = answer.HasInputs
	return o, nil
}

// object returns an object with everything marked that is secret. Its outputs are all those of the provider.
func (p *Provider) object(r *Resource, id string, inputs, outputs property.Map) Object {
	inputs = p.Schema.Mark(inputs, r.InputProperties)
	outputs = property.AnnotateSecrets(p.Schema.Mark(outputs, r.Properties), inputs)
	return Object{ID: id, Inputs: inputs, Outputs: p.Schema.Mark(outputs, r.InputProperties)}
}

// Diff compares an object with checked inputs. It reports whether an update changes anything, and the properties whose changes need another object.
func (p *Provider) Diff(ctx context.Context, r *Resource, old Object, inputs property.Map) (changed bool, replacing []string, err error) {
	u := r.URN()
	d, err := p.Inner.Diff(ctx, providers.DiffRequest{
		URN: u, Name: u.Name(), Type: u.Type(), ID: old.ID, OldInputs: old.Inputs, OldOutputs: old.Outputs, NewInputs: inputs,
	})
	if errors.As(err, new(*providers.DiffUnavailableError)) {
		return true, nil, nil
	}
	if err != nil {
		return false, nil, err
	}
	replacing = slices.Clone(d.ReplaceKeys)
	for path, change := range d.DetailedDiff {
		if change.Kind.IsReplace() {
			replacing = append(replacing, path)
		}
	}
	slices.Sort(replacing)
	replacing = slices.Compact(replacing)
	switch d.Changes {
	case providers.DiffNone:
		return false, nil, nil
	case providers.DiffSome:
		return true, replacing, nil
	}
	return !property.EqualIgnoringSecrets(old.Inputs, inputs), replacing, nil
}

// Update gives an object checked inputs. The error is an *[UnhealthyError] if the object was changed.
func (p *Provider) Update(ctx context.Context, r *Resource, old Object, inputs property.Map, preview bool) (Object, error) {
	u := r.URN()
	answer, err := p.Inner.Update(ctx, providers.UpdateRequest{
		URN: u, Name: u.Name(), Type: u.Type(), ID: old.ID, OldInputs: old.Inputs, OldOutputs: old.Outputs, NewInputs: inputs, Preview: preview,
	})
	changed := p.object(r, old.ID, inputs, answer.Properties)
	if unhealthy := (*providers.InitError)(nil); errors.As(err, &unhealthy) {
		changed = p.object(r, old.ID, inputs, unhealthy.Properties)
		return changed, &UnhealthyError{changed, reasons(unhealthy)}
	}
	return changed, err
}

// Delete deletes an object that was read.
func (p *Provider) Delete(ctx context.Context, r *Resource, o Object) error {
	u := r.URN()
	return p.Inner.Delete(ctx, providers.DeleteRequest{
		URN: u, Name: u.Name(), Type: u.Type(), ID: o.ID, Inputs: o.Inputs, Outputs: o.Outputs,
	})
}

// List returns existing objects: the first page, or at most limit of all pages. A limit below 0 is none.
func (p *Provider) List(ctx context.Context, r *Resource, query property.Map, limit int64, pages bool) (list []providers.Listed, more bool, err error) {
	req := providers.ListRequest{Type: urn.Type(r.Token), Query: query, Limit: max(limit, 0)}
	for {
		answer, err := p.Inner.List(ctx, req)
		if err != nil {
			return nil, false, err
		}
		if answer.Unknown {
			return nil, false, errors.New("the provider could not list the objects, because it takes something in the query or in its settings for unknown")
		}
		list = append(list, answer.Resources...)
		if limit > 0 && int64(len(list)) >= limit {
			return list[:limit], int64(len(list)) > limit || answer.Continuation != "", nil
		}
		if !pages || answer.Continuation == "" {
			return list, answer.Continuation != "", nil
		}
		req.Continuation = answer.Continuation
	}
}

// Invoke calls a function.
func (p *Provider) Invoke(ctx context.Context, f *Function, arguments property.Map, preview bool) (property.Value, error) {
	arguments, err := p.hashed(ctx, p.Schema.Mark(arguments, f.Inputs().Properties))
	if err != nil {
		return property.Null, err
	}
	answer, err := p.Inner.Invoke(ctx, providers.InvokeRequest{Token: f.Token, Args: arguments, Preview: preview})
	if err == nil {
		err = refused("the function does not accept its inputs", answer.Failures)
	}
	if err != nil {
		return property.Null, err
	}
	return p.Schema.Result(f, property.AnnotateSecrets(answer.Return, arguments)), nil
}

// WithoutPlugin returns the settings in the recorded inputs of a provider, without what the engine has added about its plugin.
func WithoutPlugin(inputs property.Map, version string) property.Map {
	out := inputs.Without(providers.InternalKey)
	if v, _ := out.At(providers.VersionKey).Unwrap(); version != "" && v.AsString() == version {
		out = out.Without(providers.VersionKey)
	}
	return out
}
