package tracing

import (
	"context"
	"sync/atomic"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

// Host returns h with spans for what it starts and for the calls of that.
func (r *Run) Host(h providers.Host) providers.Host { return host{h, r} }

type host struct {
	host providers.Host
	run  *Run
}

var (
	_ providers.Preparer     = host{}
	_ source.ComponentServer = host{}
)

// ServeComponents lets the host evaluate components, if it can.
func (h host) ServeComponents(next providers.Host, p source.Project, monitor func() stages.Monitor) providers.Host {
	if c, evaluates := h.host.(source.ComponentServer); evaluates {
		return c.ServeComponents(next, p, monitor)
	}
	return next
}

// Prepare lets the host make providers available before they are loaded, if it can.
func (h host) Prepare(ctx context.Context, specs []providers.Spec) []providers.Spec {
	p, can := h.host.(providers.Preparer)
	if !can {
		return nil
	}
	ctx, span := h.run.tracer.Start(trace.ContextWithSpan(ctx, h.run.span), "install plugins")
	defer span.End()
	return p.Prepare(ctx, specs)
}

// Load starts a provider.
func (h host) Load(ctx context.Context, spec providers.Spec) (providers.Provider, error) {
	ctx, span := h.run.tracer.Start(trace.ContextWithSpan(ctx, h.run.span), "start provider", trace.WithAttributes(
		attribute.String("sluice.package", spec.Package), attribute.String("sluice.version", spec.Version)))
	p, err := h.host.Load(ctx, spec)
	end(span, err)
	if err != nil || p == nil { // which the registry refuses
		return p, err
	}
	return &provider{Provider: p, run: h.run}, nil
}

// provider is a provider whose calls have spans.
type provider struct {
	providers.Provider
	run *Run
	// urn is that of its resource; nil until it is configured. A plugin that is only asked for its schema has none.
	urn atomic.Pointer[urn.URN]
}

const service = "pulumirpc.ResourceProvider"

// call begins the span of a call about a resource; u is "" if it is about none.
func (p *provider) call(ctx context.Context, method string, u urn.URN, more ...attribute.KeyValue) (context.Context, trace.Span) {
	attributes := append([]attribute.KeyValue{
		attribute.String("rpc.service", service), attribute.String("rpc.method", method), attribute.String("sluice.package", p.Package()),
	}, more...)
	if u != "" {
		attributes = append(attributes, attribute.String("sluice.urn", string(u)), attribute.String("sluice.type", string(u.Type())))
	}
	if own := p.urn.Load(); own != nil {
		attributes = append(attributes, attribute.String("sluice.provider", string(*own)))
	}
	return p.run.tracer.Start(p.run.at(ctx, u), service+"/"+method, trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(attributes...))
}

func (p *provider) CheckConfig(ctx context.Context, req providers.CheckRequest) (providers.CheckResponse, error) {
	ctx, span := p.call(ctx, "CheckConfig", req.URN)
	answer, err := p.Provider.CheckConfig(ctx, req)
	end(span, err)
	return answer, err
}

func (p *provider) DiffConfig(ctx context.Context, req providers.DiffRequest) (providers.DiffResponse, error) {
	ctx, span := p.call(ctx, "DiffConfig", req.URN)
	answer, err := p.Provider.DiffConfig(ctx, req)
	end(span, err)
	return answer, err
}

func (p *provider) Configure(ctx context.Context, req providers.ConfigureRequest) error {
	p.urn.Store(&req.URN)
	ctx, span := p.call(ctx, "Configure", req.URN)
	err := p.Provider.Configure(ctx, req)
	end(span, err)
	return err
}

func (p *provider) Check(ctx context.Context, req providers.CheckRequest) (providers.CheckResponse, error) {
	ctx, span := p.call(ctx, "Check", req.URN)
	answer, err := p.Provider.Check(ctx, req)
	end(span, err)
	return answer, err
}

func (p *provider) Diff(ctx context.Context, req providers.DiffRequest) (providers.DiffResponse, error) {
	ctx, span := p.call(ctx, "Diff", req.URN)
	answer, err := p.Provider.Diff(ctx, req)
	end(span, err)
	return answer, err
}

func (p *provider) Create(ctx context.Context, req providers.CreateRequest) (providers.CreateResponse, error) {
	ctx, span := p.call(ctx, "Create", req.URN)
	answer, err := p.Provider.Create(ctx, req)
	end(span, err)
	return answer, err
}

func (p *provider) Read(ctx context.Context, req providers.ReadRequest) (providers.ReadResponse, error) {
	ctx, span := p.call(ctx, "Read", req.URN)
	answer, err := p.Provider.Read(ctx, req)
	end(span, err)
	return answer, err
}

func (p *provider) List(ctx context.Context, req providers.ListRequest) (providers.ListResponse, error) {
	ctx, span := p.call(ctx, "List", "", attribute.String("sluice.type", string(req.Type)))
	answer, err := p.Provider.List(ctx, req)
	end(span, err)
	return answer, err
}

func (p *provider) Update(ctx context.Context, req providers.UpdateRequest) (providers.UpdateResponse, error) {
	ctx, span := p.call(ctx, "Update", req.URN)
	answer, err := p.Provider.Update(ctx, req)
	end(span, err)
	return answer, err
}

func (p *provider) Delete(ctx context.Context, req providers.DeleteRequest) error {
	ctx, span := p.call(ctx, "Delete", req.URN)
	err := p.Provider.Delete(ctx, req)
	end(span, err)
	return err
}

func (p *provider) Invoke(ctx context.Context, req providers.InvokeRequest) (providers.InvokeResponse, error) {
	ctx, span := p.call(ctx, "Invoke", "", attribute.String("sluice.token", req.Token))
	answer, err := p.Provider.Invoke(ctx, req)
	end(span, err)
	return answer, err
}

func (p *provider) Call(ctx context.Context, req providers.CallRequest) (providers.CallResponse, error) {
	ctx, span := p.call(ctx, "Call", "", attribute.String("sluice.token", req.Token))
	answer, err := p.Provider.Call(ctx, req)
	end(span, err)
	return answer, err
}

func (p *provider) Construct(ctx context.Context, req providers.ConstructRequest) (providers.ConstructResponse, error) {
	ctx, span := p.call(ctx, "Construct", "", attribute.String("sluice.type", string(req.Type)))
	answer, err := p.Provider.Construct(ctx, req)
	end(span, err)
	return answer, err
}

func (p *provider) Parameterize(ctx context.Context, req providers.ParameterizeRequest) (providers.ParameterizeResponse, error) {
	ctx, span := p.call(ctx, "Parameterize", "")
	answer, err := p.Provider.Parameterize(ctx, req)
	end(span, err)
	return answer, err
}

func (p *provider) Schema(ctx context.Context, req providers.SchemaRequest) (string, error) {
	ctx, span := p.call(ctx, "GetSchema", "")
	text, err := p.Provider.Schema(ctx, req)
	end(span, err)
	return text, err
}

func (p *provider) Cancel(ctx context.Context) error {
	ctx, span := p.call(ctx, "Cancel", "")
	err := p.Provider.Cancel(ctx)
	end(span, err)
	return err
}
