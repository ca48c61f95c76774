package providers

import (
	"context"

	"github.com/sluice-iac/sluice/urn"
)

// Call is a call of a provider that goes through an [Interceptor].
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

// Interceptor surrounds the calls of a provider. It may change the response and the error. It must be safe for concurrent use.
type Interceptor func(ctx context.Context, c *Call) error

// Intercept returns a provider whose calls go through an interceptor. Package, Mapping, Mappings and Close are called directly. A call costs one
// allocation.
func Intercept(p Provider, i Interceptor) Provider { return &intercepted{p, i} }

type intercepted struct {
	Provider
	around Interceptor
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
	f := &frame[Q, R]{call: Call{Method: name, URN: u}, provider: p.Provider, method: method, request: req}
	f.call.frame, f.call.Request, f.call.Response = f, &f.request, &f.response
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
	return through(ctx, p, "Check", req.URN, req, Provider.Check)
}

func (p *intercepted) Diff(ctx context.Context, req DiffRequest) (DiffResponse, error) {
	return through(ctx, p, "Diff", req.URN, req, Provider.Diff)
}

func (p *intercepted) Create(ctx context.Context, req CreateRequest) (CreateResponse, error) {
	return through(ctx, p, "Create", req.URN, req, Provider.Create)
}

func (p *intercepted) Read(ctx context.Context, req ReadRequest) (ReadResponse, error) {
	return through(ctx, p, "Read", req.URN, req, Provider.Read)
}

func (p *intercepted) List(ctx context.Context, req ListRequest) (ListResponse, error) {
	return through(ctx, p, "List", "", req, Provider.List)
}

func (p *intercepted) Update(ctx context.Context, req UpdateRequest) (UpdateResponse, error) {
	return through(ctx, p, "Update", req.URN, req, Provider.Update)
}

func (p *intercepted) Delete(ctx context.Context, req DeleteRequest) error {
	_, err := through(ctx, p, "Delete", req.URN, req, func(p Provider, ctx context.Context, req DeleteRequest) (nothing, error) {
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
