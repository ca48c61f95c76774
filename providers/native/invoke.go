package native

import (
	"context"
	"fmt"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
)

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

// result returns the outputs, including repeated arguments; outputs is nil when they are unknown.
func (f *Function) result(args property.Map, outputs Outputs) property.Map {
	out := map[string]property.Value{}
	for _, o := range f.Outputs {
		v, ok := outputs[o.Name]
		if arg, given := args.Get(o.Name); !ok && given {
			v = arg
		} else if outputs == nil {
			v = property.Computed()
		}
		if v.IsNull() {
			continue
		}
		if o.Secret {
			v = property.MakeSecret(v)
		}
		out[o.Name] = v
	}
	m := property.NewMap(out)
	if secretive(f.Inputs, args) {
		return m.SecretsAll()
	}
	return m
}

// secretive reports whether the fields have a secret value that the description does not mark secret.
func secretive(fields []Field, values property.Map) bool {
	for _, f := range fields {
		if values.At(f.Name).HasSecrets() && !f.Secret {
			return true
		}
	}
	return false
}
