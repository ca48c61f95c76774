package providers

import (
	"context"
	"sync"

	"github.com/sluice-iac/sluice/urn"
)

// Call is a call of a provider that goes through an [Interceptor]. It is valid until the interceptor returns; then it is used for another call.
type Call struct {
	Method string  // the name in the protocol: "Check", "GetSchema"
	URN    urn.URN // of the resource, "" if the call is about none
	// Request and Response are pointers: a *CheckRequest and a *CheckResponse for Check. The response is empty until the call has returned. They are nil
	// where the method has none.
	Request, Response any

	frame interface{ run(context.Context) error }
}

// Do makes the call, and fills the response. An interceptor calls it once.
func (c *Call) Do(ctx context.Context) error { return c.frame.run(ctx) }

// Interceptor surrounds the calls of a provider. It may change the request, the response and the error. It must be safe for concurrent use.
type Interceptor func(ctx context.Context, c *Call) error

// Intercept returns a provider whose calls go through an interceptor. Package, Mapping, Mappings and Close are called directly.
func Intercept(p Provider, i Interceptor) Provider { return &intercepted{Provider: p, around: i} }

type intercepted struct {
	Provider
	around Interceptor
	// The frames of calls that have ended, of the methods that are called for each resource. They are 250 to 320 bytes each, one in thirty that an
	// unchanged preview allocates.
	checks, diffs, creates, reads, updates, deletes sync.Pool
}

// frame is a call with its request and its response.
type frame[Q, R any] struct {
	call     Call
	provider Provider
	method   func(Provider, context.Context, Q) (R, error)
	request  Q
	response R
}

func (f *frame[Q, R]) run(ctx context.Context) (err error) {
	f.response, err = f.method(f.provider, ctx, f.request)
	return err
}

// through makes a call through the interceptor of a provider.
func through[Q, R any](ctx context.Context, p *intercepted, name string, u urn.URN, req Q, method func(Provider, context.Context, Q) (R, error)) (R, error) {
	return new(frame[Q, R]).through(ctx, p, name, u, req, method)
}

// throughOf is through with a frame of the pool. A call that panics does not give it back.
func throughOf[Q, R any](ctx context.Context, pool *sync.Pool, p *intercepted, name string, u urn.URN, req Q, method func(Provider, context.Context, Q) (R, error)) (R, error) {
	f, ok := pool.Get().(*frame[Q, R])
	if !ok {
		f = new(frame[Q, R])
	}
	response, err := f.through(ctx, p, name, u, req, method)
	*f = frame[Q, R]{}
	pool.Put(f)
	return response, err
}

func (f *frame[Q, R]) through(ctx context.Context, p *intercepted, name string, u urn.URN, req Q, method func(Provider, context.Context, Q) (R, error)) (R, error) {
	f.call = Call{Method: name, URN: u, Request: &f.request, Response: &f.response, frame: f}
	f.provider, f.method, f.request = p.Provider, method, req
	err := p.around(ctx, &f.call)
	return f.response, err
}

// nothing is the response of a method that has none.
type nothing struct{}

func (p *intercepted) CheckConfig(ctx context.Context, req CheckRequest) (CheckResponse, error) {
	return through(ctx, p, "CheckConfig", req.URN, req, Provider.CheckConfig)
}

func (p *intercepted) DiffConfig(ctx context.Context, req DiffRequest) (DiffResponse, error) {
	return through(ctx, p, "DiffConfig", req.URN, req, Provider.DiffConfig)
}

func (p *intercepted) Configure(ctx context.Context, req ConfigureRequest) error {
	_, err := through(ctx, p, "Configure", req.URN, req, func(p Provider, ctx context.Context, req ConfigureRequest) (nothing, error) {
		return nothing{}, p.Configure(ctx, req)
	})
	return err
}

func (p *intercepted) Check(ctx context.Context, req CheckRequest) (CheckResponse, error) {
	return throughOf(ctx, &p.checks, p, "Check", req.URN, req, Provider.Check)
}

func (p *intercepted) Diff(ctx context.Context, req DiffRequest) (DiffResponse, error) {
	return throughOf(ctx, &p.diffs, p, "Diff", req.URN, req, Provider.Diff)
}

func (p *intercepted) Create(ctx context.Context, req CreateRequest) (CreateResponse, error) {
	return throughOf(ctx, &p.creates, p, "Create", req.URN, req, Provider.Create)
}

func (p *intercepted) Read(ctx context.Context, req ReadRequest) (ReadResponse, error) {
	return throughOf(ctx, &p.reads, p, "Read", req.URN, req, Provider.Read)
}

func (p *intercepted) List(ctx context.Context, req ListRequest) (ListResponse, error) {
	return through(ctx, p, "List", "", req, Provider.List)
}

func (p *intercepted) Update(ctx context.Context, req UpdateRequest) (UpdateResponse, error) {
	return throughOf(ctx, &p.updates, p, "Update", req.URN, req, Provider.Update)
}

func (p *intercepted) Delete(ctx context.Context, req DeleteRequest) error {
	_, err := throughOf(ctx, &p.deletes, p, "Delete", req.URN, req, func(p Provider, ctx context.Context, req DeleteRequest) (nothing, error) {
		return nothing{}, p.Delete(ctx, req)
	})
	return err
}

func (p *intercepted) Invoke(ctx context.Context, req InvokeRequest) (InvokeResponse, error) {
	return through(ctx, p, "Invoke", "", req, Provider.Invoke)
}

func (p *intercepted) Call(ctx context.Context, req CallRequest) (CallResponse, error) {
	return through(ctx, p, "Call", "", req, Provider.Call)
}

func (p *intercepted) Construct(ctx context.Context, req ConstructRequest) (ConstructResponse, error) {
	return through(ctx, p, "Construct", "", req, Provider.Construct)
}

func (p *intercepted) Parameterize(ctx context.Context, req ParameterizeRequest) (ParameterizeResponse, error) {
	return through(ctx, p, "Parameterize", "", req, Provider.Parameterize)
}

func (p *intercepted) Schema(ctx context.Context, req SchemaRequest) (string, error) {
	return through(ctx, p, "GetSchema", "", req, Provider.Schema)
}

func (p *intercepted) Cancel(ctx context.Context) error {
	_, err := through(ctx, p, "Cancel", "", nothing{}, func(p Provider, ctx context.Context, _ nothing) (nothing, error) {
		return nothing{}, p.Cancel(ctx)
	})
	return err
}
