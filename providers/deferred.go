package providers

import (
	"cmp"
	"context"
	"sync"

	"github.com/sluice-iac/sluice/pipeline/await"
)

// deferred is a provider that is started by the first call that needs it. It is configured then, so an error of its configuration is the error of that
// call.
type deferred struct {
	spec Spec
	// run is the life of the process, and load starts it.
	run  context.Context
	load func(context.Context) (Provider, error)

	starting    await.Flight[struct{}, Provider]
	configuring await.Flight[struct{}, error]

	mu      sync.Mutex // guards the fields below
	started Provider   // nil until it is started
	request *ConfigureRequest
	closed  bool
}

// process starts the provider, without its configuration.
func (d *deferred) process(ctx context.Context) (Provider, error) {
	return d.starting.Do(ctx, struct{}{}, func() (Provider, error) {
		p, err := d.load(d.run)
		if err != nil {
			return nil, err
		}
		d.mu.Lock()
		closed := d.closed
		d.started = p
		d.mu.Unlock()
		if closed {
			_ = p.Close() // nobody uses it any more
			return nil, errUnloaded
		}
		return p, nil
	})
}

// ready starts and configures the provider. It is configured once: the error of that is the error of all calls.
func (d *deferred) ready(ctx context.Context) (Provider, error) {
	p, err := d.process(ctx)
	if err != nil {
		return nil, err
	}
	refused, err := d.configuring.Do(ctx, struct{}{}, func() (error, error) {
		d.mu.Lock()
		request := d.request
		d.mu.Unlock()
		if request == nil {
			return nil, nil
		}
		return configure(d.run, p, d.spec, *request), nil
	})
	return p, cmp.Or(err, refused)
}

// Configure keeps the configuration for the first call that needs it.
func (d *deferred) Configure(_ context.Context, req ConfigureRequest) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.request = &req
	return nil
}

// Package is that of the spec.
func (d *deferred) Package() string { return d.spec.Package }

// on makes a call once start has returned the provider.
func on[Q, R any](ctx context.Context, start func(context.Context) (Provider, error), req Q, call func(Provider, context.Context, Q) (R, error)) (R, error) {
	p, err := start(ctx)
	if err != nil {
		var none R
		return none, err
	}
	return call(p, ctx, req)
}

func (d *deferred) CheckConfig(ctx context.Context, req CheckRequest) (CheckResponse, error) {
	return on(ctx, d.process, req, Provider.CheckConfig)
}

func (d *deferred) DiffConfig(ctx context.Context, req DiffRequest) (DiffResponse, error) {
	return on(ctx, d.process, req, Provider.DiffConfig)
}

func (d *deferred) Check(ctx context.Context, req CheckRequest) (CheckResponse, error) {
	return on(ctx, d.ready, req, Provider.Check)
}

func (d *deferred) Diff(ctx context.Context, req DiffRequest) (DiffResponse, error) {
	return on(ctx, d.ready, req, Provider.Diff)
}

func (d *deferred) Create(ctx context.Context, req CreateRequest) (CreateResponse, error) {
	return on(ctx, d.ready, req, Provider.Create)
}

func (d *deferred) Read(ctx context.Context, req ReadRequest) (ReadResponse, error) {
	return on(ctx, d.ready, req, Provider.Read)
}

func (d *deferred) List(ctx context.Context, req ListRequest) (ListResponse, error) {
	return on(ctx, d.ready, req, Provider.List)
}

func (d *deferred) Update(ctx context.Context, req UpdateRequest) (UpdateResponse, error) {
	return on(ctx, d.ready, req, Provider.Update)
}

func (d *deferred) Delete(ctx context.Context, req DeleteRequest) error {
	p, err := d.ready(ctx)
	if err != nil {
		return err
	}
	return p.Delete(ctx, req)
}

func (d *deferred) Invoke(ctx context.Context, req InvokeRequest) (InvokeResponse, error) {
	return on(ctx, d.ready, req, Provider.Invoke)
}

func (d *deferred) Call(ctx context.Context, req CallRequest) (CallResponse, error) {
	return on(ctx, d.ready, req, Provider.Call)
}

func (d *deferred) Construct(ctx context.Context, req ConstructRequest) (ConstructResponse, error) {
	return on(ctx, d.ready, req, Provider.Construct)
}

func (d *deferred) Parameterize(ctx context.Context, req ParameterizeRequest) (ParameterizeResponse, error) {
	return on(ctx, d.process, req, Provider.Parameterize)
}

func (d *deferred) Schema(ctx context.Context, req SchemaRequest) (string, error) {
	return on(ctx, d.process, req, Provider.Schema)
}

func (d *deferred) Mapping(ctx context.Context, req MappingRequest) (MappingResponse, error) {
	return on(ctx, d.process, req, Provider.Mapping)
}

func (d *deferred) Mappings(ctx context.Context, key string) ([]string, error) {
	return on(ctx, d.process, key, Provider.Mappings)
}

// present returns the provider if it has been started.
func (d *deferred) present() Provider {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.started
}

// Cancel does nothing to a provider that has not been started.
func (d *deferred) Cancel(ctx context.Context) error {
	if p := d.present(); p != nil {
		return p.Cancel(ctx)
	}
	return nil
}

// Close ends the provider if it has been started. It starts no more.
func (d *deferred) Close() error {
	d.mu.Lock()
	d.closed = true
	d.mu.Unlock()
	if p := d.present(); p != nil {
		return p.Close()
	}
	return nil
}
