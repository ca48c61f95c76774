package providertest

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/urn"
)

// provider is one provider instance of a cloud.
type provider struct {
	providers.Unimplemented
	cloud *Cloud
	// life ends when the provider is cancelled or closed; only hanging calls depend on it.
	life context.Context
	end  context.CancelFunc
}

// do is the frame of every call: it records the call, waits, fails or works.
func do[T any](ctx context.Context, p *provider, c Call, work func() (T, error)) (T, error) {
	var none T
	c, over := p.cloud.log.begin(c)
	defer over()
	if err := p.cloud.options.wait(ctx, c); err != nil {
		return none, err
	}
	if cut := p.cloud.options.Cut; cut != nil {
		if err := cut(c); err != nil {
			return none, err
		}
	}
	for _, f := range p.cloud.options.Failures {
		if !f.matches(c) {
			continue
		}
		if f.Hang {
			p.hang(ctx)
		}
		if f.Applied {
			if _, err := work(); err != nil {
				return none, err
			}
		}
		return none, f.err(c)
	}
	return work()
}

func (p *provider) hang(ctx context.Context) {
	select {
	case <-p.life.Done():
	case <-ctx.Done():
	}
}

func (p *provider) CheckConfig(ctx context.Context, req providers.CheckRequest) (providers.CheckResponse, error) {
	return do(ctx, p, Call{Method: MethodCheckConfig, URN: req.URN}, func() (providers.CheckResponse, error) {
		return providers.CheckResponse{Inputs: req.News, Failures: refusals(req.News)}, nil
	})
}

func (p *provider) DiffConfig(ctx context.Context, req providers.DiffRequest) (providers.DiffResponse, error) {
	return do(ctx, p, Call{Method: MethodDiffConfig, URN: req.URN}, func() (providers.DiffResponse, error) {
		old, now := req.OldInputs.Without(providers.VersionKey), req.NewInputs.Without(providers.VersionKey)
		return Compare(old, now, req.IgnoreChanges), nil
	})
}

func (p *provider) Configure(ctx context.Context, req providers.ConfigureRequest) error {
	_, err := do(ctx, p, Call{Method: MethodConfigure, URN: req.URN, ID: req.ID}, func() (struct{}, error) {
		return struct{}{}, nil
	})
	return err
}

func (p *provider) Check(ctx context.Context, req providers.CheckRequest) (providers.CheckResponse, error) {
	c := Call{Method: providers.MethodCheck, URN: req.URN, Preview: req.AllowUnknowns}
	return do(ctx, p, c, func() (providers.CheckResponse, error) {
		return providers.CheckResponse{Inputs: req.News, Failures: refusals(req.News)}, nil
	})
}

func (p *provider) Diff(ctx context.Context, req providers.DiffRequest) (providers.DiffResponse, error) {
	c := Call{Method: providers.MethodDiff, URN: req.URN, ID: req.ID, Preview: req.AllowUnknowns}
	return do(ctx, p, c, func() (providers.DiffResponse, error) {
		return Compare(req.OldInputs, req.NewInputs, req.IgnoreChanges), nil
	})
}

func (p *provider) Create(ctx context.Context, req providers.CreateRequest) (providers.CreateResponse, error) {
	c := Call{Method: providers.MethodCreate, URN: req.URN, Preview: req.Preview}
	return do(ctx, p, c, func() (providers.CreateResponse, error) {
		if req.Preview {
			return providers.CreateResponse{Properties: outputs(req.Properties, "", true)}, nil
		}
		r := Record{URN: req.URN, Type: req.Type, Inputs: req.Properties}
		var err error
		if r.ID, err = p.cloud.options.newID(p.cloud.table, r); err != nil {
			return providers.CreateResponse{}, err
		}
		if err := p.cloud.table.Write(r); err != nil {
			return providers.CreateResponse{}, err
		}
		out := outputs(req.Properties, r.ID, false)
		return providers.CreateResponse{ID: r.ID, Properties: out}, p.health(r, out)
	})
}

// health returns the error of an unhealthy resource.
func (p *provider) health(r Record, out property.Map) error {
	if !isUnhealthy(r.Inputs) {
		return nil
	}
	return &providers.InitError{
		ID: r.ID, Properties: out, Inputs: r.Inputs, HasInputs: true, Reasons: []string{r.URN.Name() + " is unhealthy"},
	}
}

func (p *provider) Update(ctx context.Context, req providers.UpdateRequest) (providers.UpdateResponse, error) {
	c := Call{Method: providers.MethodUpdate, URN: req.URN, ID: req.ID, Preview: req.Preview}
	return do(ctx, p, c, func() (providers.UpdateResponse, error) {
		out := outputs(req.NewInputs, req.ID, req.Preview)
		if req.Preview {
			return providers.UpdateResponse{Properties: out}, nil
		}
		if _, ok, err := p.cloud.table.Read(req.ID); err != nil || !ok {
			return providers.UpdateResponse{}, errors.Join(err, missing(req.ID))
		}
		r := Record{ID: req.ID, URN: req.URN, Type: req.Type, Inputs: req.NewInputs}
		if err := p.cloud.table.Write(r); err != nil {
			return providers.UpdateResponse{}, err
		}
		return providers.UpdateResponse{Properties: out}, p.health(r, out)
	})
}

func missing(id string) error { return fmt.Errorf("the cloud has no resource %q", id) }

func (p *provider) Delete(ctx context.Context, req providers.DeleteRequest) error {
	c := Call{Method: providers.MethodDelete, URN: req.URN, ID: req.ID}
	_, err := do(ctx, p, c, func() (struct{}, error) {
		return struct{}{}, p.cloud.table.Remove(req.ID)
	})
	return err
}

func (p *provider) Read(ctx context.Context, req providers.ReadRequest) (providers.ReadResponse, error) {
	c := Call{Method: providers.MethodRead, URN: req.URN, ID: req.ID}
	return do(ctx, p, c, func() (providers.ReadResponse, error) {
		r, ok, err := p.cloud.table.Read(req.ID)
		if err != nil || !ok {
			return providers.ReadResponse{Absent: true}, err
		}
		out := outputs(r.Inputs, r.ID, false)
		answer := providers.ReadResponse{ID: r.ID, Inputs: r.Inputs, HasInputs: true, Properties: out}
		return answer, p.health(r, out)
	})
}

// Invoke has two functions: "<package>:index:echo" returns its arguments, "<package>:index:lookup" the inputs of the
// resource with the given "id".
func (p *provider) Invoke(ctx context.Context, req providers.InvokeRequest) (providers.InvokeResponse, error) {
	c := Call{Method: providers.MethodInvoke, Token: req.Token, Preview: req.Preview}
	return do(ctx, p, c, func() (providers.InvokeResponse, error) {
		switch {
		case strings.HasSuffix(req.Token, ":echo"):
			return providers.InvokeResponse{Return: req.Args}, nil
		case strings.HasSuffix(req.Token, ":lookup"):
			return p.lookup(req.Args)
		}
		return providers.InvokeResponse{}, fmt.Errorf("the cloud has no function %q", req.Token)
	})
}

func (p *provider) lookup(args property.Map) (providers.InvokeResponse, error) {
	v, _ := args.At("id").Unwrap()
	if !v.IsString() {
		failure := providers.CheckFailure{Property: "id", Reason: "must be a string"}
		return providers.InvokeResponse{Failures: []providers.CheckFailure{failure}}, nil
	}
	r, ok, err := p.cloud.table.Read(v.AsString())
	if err != nil || !ok {
		return providers.InvokeResponse{}, errors.Join(err, missing(v.AsString()))
	}
	return providers.InvokeResponse{Return: outputs(r.Inputs, r.ID, false)}, nil
}

// Call has one method for every resource: "<type>/describe" returns the arguments other than "__self__", and the URN of
// that resource as "urn".
func (p *provider) Call(ctx context.Context, req providers.CallRequest) (providers.CallResponse, error) {
	return do(ctx, p, Call{Method: MethodCall, Token: req.Token}, func() (providers.CallResponse, error) {
		if !strings.HasSuffix(req.Token, "/describe") {
			return providers.CallResponse{}, fmt.Errorf("the cloud has no method %q", req.Token)
		}
		self, _ := req.Args.At("__self__").Unwrap()
		var u urn.URN
		if self.IsReference() {
			u = self.AsReference().URN
		}
		return providers.CallResponse{
			Return:             req.Args.Without("__self__").With("urn", property.String(string(u))),
			ReturnDependencies: map[string][]urn.URN{"urn": {u}},
		}, nil
	})
}

// Parameterize accepts every package.
func (p *provider) Parameterize(
	ctx context.Context, req providers.ParameterizeRequest,
) (providers.ParameterizeResponse, error) {
	return do(ctx, p, Call{Method: MethodParameterize, Token: req.Name}, func() (providers.ParameterizeResponse, error) {
		return providers.ParameterizeResponse{Name: req.Name, Version: req.Version}, nil
	})
}

// Schema describes the package by its name only: the cloud accepts every type.
func (p *provider) Schema(ctx context.Context, _ providers.SchemaRequest) (string, error) {
	return do(ctx, p, Call{Method: MethodSchema}, func() (string, error) {
		return fmt.Sprintf("{\"name\":%q,\"version\":\"1.0.0\"}", p.PackageName), nil
	})
}

// Cancel ends the calls that hang.
func (p *provider) Cancel(ctx context.Context) error {
	_, err := do(ctx, p, Call{Method: MethodCancel}, func() (struct{}, error) { return struct{}{}, nil })
	p.end()
	return err
}

// Close ends the calls that hang. It takes no time, as it could not be cancelled.
func (p *provider) Close() error {
	_, over := p.cloud.log.begin(Call{Method: MethodClose})
	over()
	p.end()
	return nil
}
