package providers

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/sluice-iac/sluice/pipeline/await"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/urn"
)

// instance is a provider that the registry started. It satisfies [Provider]. Resource calls wait for its configuration and for limits, and are
// counted, so that an unloaded provider is closed only after its last call.
//
// It also keeps unknown values away from providers outside of previews: nothing is made, changed or called with them, and recorded states are
// sent without them. Only Construct gets them, since the component registers its resources with the engine.
type instance struct {
	Provider
	spec    Spec
	limits  runLimits
	answers *Answers // of the preview; nil if there are none or they cannot be used
	// identity is that of the plugin, for answers.
	identity string
	plain    recorder // of calls that need no configuration
	judge    judge
	// The fields up to unconfigured are set before configured is decided and not changed after that.
	ref          urn.ProviderRef
	inputs       property.Map         // its configuration
	recorder     recorder             // of calls that need the configuration
	unconfigured *unconfiguredAnswers // not nil if the configuration is unknown

	configured *await.Promise[struct{}]

	mu      sync.Mutex // guards the fields below
	calls   int
	used    bool // a call has waited for the configuration, and gets its error
	retired bool
	closing sync.Once
	closed  error
}

func newInstance(p Provider, spec Spec, o *RegistryOptions, limits runLimits, r recorder) *instance {
	i := &instance{Provider: p, spec: spec, limits: limits, plain: r, judge: judge{spec, o.Warn}, configured: await.NewPromise[struct{}]()}
	if identity, known := o.Answers.of(spec); known {
		i.answers, i.identity = o.Answers, identity
	}
	return i
}

var errUnloaded = errors.New("the provider has been unloaded")

// begin counts a call that end ends. If it returns an error, the call is not counted.
func (i *instance) begin() error {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.retired {
		return fmt.Errorf("provider %s: %w", i.name(), errUnloaded)
	}
	i.calls++
	return nil
}

func (i *instance) end() {
	i.mu.Lock()
	i.calls--
	idle := i.retired && i.calls == 0
	i.mu.Unlock()
	if idle {
		_ = i.shut()
	}
}

// retire refuses further calls and closes the provider as soon as the last one has returned.
func (i *instance) retire() {
	i.mu.Lock()
	i.retired = true
	idle := i.calls == 0
	i.mu.Unlock()
	if idle {
		_ = i.shut()
	}
}

// shut closes the provider, even if calls are under way. Later calls return the same result as the first.
func (i *instance) shut() error {
	i.closing.Do(func() {
		i.configured.Fail(fmt.Errorf("provider %s: %w", i.name(), errUnloaded))
		i.closed = i.Provider.Close()
	})
	return i.closed
}

// name returns the name of the provider in messages.
func (i *instance) name() string { return i.spec.name() }

// ready counts a call and waits for the configuration. end ends the call, unless there is an error.
func (i *instance) ready(ctx context.Context) error {
	if err := i.begin(); err != nil {
		return err
	}
	i.mu.Lock()
	i.used = true
	i.mu.Unlock()
	if _, err := i.configured.Wait(ctx); err != nil {
		i.end()
		return err
	}
	return nil
}

// isUsed reports whether a call has waited for the configuration.
func (i *instance) isUsed() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.used
}

// limited makes a call that does not come back to the engine: it waits for the configuration and then for limits, so that no call
// takes capacity from others while it waits for a configuration. u is the resource of the call, if it has one.
func limited[T any](ctx context.Context, i *instance, u urn.URN, call limitedCall, do func() (T, error)) (answer T, err error) {
	if err := i.ready(ctx); err != nil {
		return answer, err
	}
	defer i.end()
	if i.unconfigured != nil {
		return do() // makes no call
	}
	call.pkg = i.spec.Package
	leave, err := i.limits.enter(ctx, call, u)
	if err != nil {
		return answer, err
	}
	err = errPanicked
	defer func() { leave(err) }()
	answer, err = do()
	return answer, err
}

// asker returns the provider with its configuration, for which it waits if answers may be used.
func (i *instance) asker(ctx context.Context) (asker, error) {
	if i.answers == nil && !i.recorder.isOn() {
		return asker{}, nil
	}
	if err := i.ready(ctx); err != nil {
		return asker{}, err
	}
	defer i.end()
	if i.unconfigured != nil {
		return asker{}, nil
	}
	return asker{i.answers, i.identity, i.ref.URN, i.inputs, i.recorder}, nil
}

// plainAsker returns the provider of a provider resource before it is configured.
func (i *instance) plainAsker(u urn.URN) asker {
	return asker{i.answers, i.identity, u, property.Map{}, i.plain}
}

// errPanicked is the error of a call whose provider panics, for its limits.
var errPanicked = errors.New("the provider has panicked")

func (i *instance) Check(ctx context.Context, req CheckRequest) (CheckResponse, error) {
	by, err := i.asker(ctx)
	if err != nil {
		return CheckResponse{}, err
	}
	return reuse(by, req.URN, req, checks(), func() (CheckResponse, error) {
		return limited(ctx, i, req.URN, limitedCall{method: MethodCheck, typ: req.Type}, func() (CheckResponse, error) {
			if !req.AllowUnknowns {
				if err := known("check", string(req.URN), req.News); err != nil {
					return CheckResponse{}, err
				}
			}
			if i.unconfigured != nil {
				return i.unconfigured.check(req)
			}
			return i.Provider.Check(ctx, req)
		})
	})
}

func (i *instance) Diff(ctx context.Context, req DiffRequest) (DiffResponse, error) {
	by, err := i.asker(ctx)
	if err != nil {
		return DiffResponse{}, err
	}
	return reuse(by, req.URN, req, diffs(), func() (DiffResponse, error) {
		return limited(ctx, i, req.URN, limitedCall{method: MethodDiff, typ: req.Type}, func() (DiffResponse, error) {
			if i.unconfigured != nil {
				return i.unconfigured.diff()
			}
			return i.Provider.Diff(ctx, req)
		})
	})
}

func (i *instance) Create(ctx context.Context, req CreateRequest) (CreateResponse, error) {
	return limited(ctx, i, req.URN, limitedCall{method: MethodCreate, typ: req.Type, preview: req.Preview}, func() (CreateResponse, error) {
		if !req.Preview {
			if err := known("create", string(req.URN), req.Properties); err != nil {
				return CreateResponse{}, err
			}
		}
		if i.unconfigured != nil {
			return i.unconfigured.create(req)
		}
		answer, err := i.Provider.Create(ctx, req)
		if !req.Preview {
			err = i.judge.made(MethodCreate, req.URN, answer.ID, answer.Properties, answer.RefreshBeforeUpdate, err)
		}
		return answer, err
	})
}

func (i *instance) Read(ctx context.Context, req ReadRequest) (ReadResponse, error) {
	return limited(ctx, i, req.URN, limitedCall{method: MethodRead, typ: req.Type}, func() (ReadResponse, error) {
		if err := identified("read", req.URN, req.ID); err != nil {
			return ReadResponse{}, err
		}
		if i.unconfigured != nil {
			return i.unconfigured.read(req)
		}
		req.Inputs, req.State = req.Inputs.WithoutUnknowns(), req.State.WithoutUnknowns()
		answer, err := i.Provider.Read(ctx, req)
		return i.judge.found(req.URN, req.ID, answer, err)
	})
}

func (i *instance) List(ctx context.Context, req ListRequest) (ListResponse, error) {
	return limited(ctx, i, "", limitedCall{method: MethodRead, typ: req.Type}, func() (ListResponse, error) {
		if i.unconfigured != nil {
			return ListResponse{Unknown: true}, nil
		}
		return i.Provider.List(ctx, req)
	})
}

func (i *instance) Update(ctx context.Context, req UpdateRequest) (UpdateResponse, error) {
	return limited(ctx, i, req.URN, limitedCall{method: MethodUpdate, typ: req.Type, preview: req.Preview}, func() (UpdateResponse, error) {
		if !req.Preview {
			if err := errors.Join(identified("update", req.URN, req.ID), known("update", string(req.URN), req.NewInputs)); err != nil {
				return UpdateResponse{}, err
			}
			req.OldInputs, req.OldOutputs = req.OldInputs.WithoutUnknowns(), req.OldOutputs.WithoutUnknowns()
		}
		if i.unconfigured != nil {
			return i.unconfigured.update(req)
		}
		answer, err := i.Provider.Update(ctx, req)
		if !req.Preview {
			err = i.judge.made(MethodUpdate, req.URN, req.ID, answer.Properties, answer.RefreshBeforeUpdate, err)
		}
		return answer, err
	})
}

func (i *instance) Delete(ctx context.Context, req DeleteRequest) error {
	_, err := limited(ctx, i, req.URN, limitedCall{method: MethodDelete, typ: req.Type}, func() (struct{}, error) {
		if err := identified("delete", req.URN, req.ID); err != nil {
			return struct{}{}, err
		}
		if i.unconfigured != nil {
			return struct{}{}, i.unconfigured.refuse("delete", req.URN)
		}
		req.Inputs, req.Outputs = req.Inputs.WithoutUnknowns(), req.Outputs.WithoutUnknowns()
		return struct{}{}, i.Provider.Delete(ctx, req)
	})
	return err
}

func (i *instance) Invoke(ctx context.Context, req InvokeRequest) (InvokeResponse, error) {
	return limited(ctx, i, "", limitedCall{method: MethodInvoke, typ: urn.Type(req.Token)}, func() (InvokeResponse, error) {
		if !req.Preview {
			if err := known("call", req.Token, req.Args); err != nil {
				return InvokeResponse{}, err
			}
		}
		if i.unconfigured != nil {
			return InvokeResponse{}, nil
		}
		return i.Provider.Invoke(ctx, req)
	})
}

func (i *instance) Call(ctx context.Context, req CallRequest) (CallResponse, error) {
	if err := i.ready(ctx); err != nil {
		return CallResponse{}, err
	}
	defer i.end()
	if !req.Deployment.DryRun {
		if err := known("call", req.Token, req.Args); err != nil {
			return CallResponse{}, err
		}
	}
	if i.unconfigured != nil {
		return CallResponse{}, nil
	}
	return i.Provider.Call(ctx, req)
}

func (i *instance) Construct(ctx context.Context, req ConstructRequest) (ConstructResponse, error) {
	if err := i.ready(ctx); err != nil {
		return ConstructResponse{}, err
	}
	defer i.end()
	if i.unconfigured != nil {
		return ConstructResponse{}, fmt.Errorf("construct %s %q: %w", req.Type, req.Name, ErrConfigurationUnknown)
	}
	return i.Provider.Construct(ctx, req)
}

// CheckConfig, DiffConfig, Parameterize, Schema and the mappings need no configuration; they are only counted.
func (i *instance) CheckConfig(ctx context.Context, req CheckRequest) (CheckResponse, error) {
	if err := i.begin(); err != nil {
		return CheckResponse{}, err
	}
	defer i.end()
	return reuse(i.plainAsker(req.URN), req.URN, req, checks(), func() (CheckResponse, error) {
		return checkConfig(ctx, i.Provider, req)
	})
}

func (i *instance) DiffConfig(ctx context.Context, req DiffRequest) (DiffResponse, error) {
	if err := i.begin(); err != nil {
		return DiffResponse{}, err
	}
	defer i.end()
	return reuse(i.plainAsker(req.URN), req.URN, req, diffs(), func() (DiffResponse, error) {
		return diffConfig(ctx, i.Provider, req)
	})
}

func (i *instance) Parameterize(ctx context.Context, req ParameterizeRequest) (ParameterizeResponse, error) {
	if err := i.begin(); err != nil {
		return ParameterizeResponse{}, err
	}
	defer i.end()
	return i.Provider.Parameterize(ctx, req)
}

func (i *instance) Schema(ctx context.Context, req SchemaRequest) (string, error) {
	if err := i.begin(); err != nil {
		return "", err
	}
	defer i.end()
	return i.Provider.Schema(ctx, req)
}

func (i *instance) Mapping(ctx context.Context, req MappingRequest) (MappingResponse, error) {
	if err := i.begin(); err != nil {
		return MappingResponse{}, err
	}
	defer i.end()
	return i.Provider.Mapping(ctx, req)
}

func (i *instance) Mappings(ctx context.Context, key string) ([]string, error) {
	if err := i.begin(); err != nil {
		return nil, err
	}
	defer i.end()
	return i.Provider.Mappings(ctx, key)
}

// Configure is refused: the registry configures, once.
func (i *instance) Configure(context.Context, ConfigureRequest) error {
	return fmt.Errorf("provider %s: only the registry configures providers", i.name())
}

// Close does nothing: the registry closes the providers that it started, when the run is over or the provider resource is deleted.
func (i *instance) Close() error { return nil }
