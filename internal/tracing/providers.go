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

// Prepare makes the host prepare providers before they are loaded, if it can.
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
	if err != nil || p == nil { // the registry returns the error
		return p, err
	}
	traced := &provider{pkg: p.Package(), run: h.run}
	return providers.Intercept(p, traced.call), nil
}

// provider makes spans of the calls of a provider.
type provider struct {
	pkg string
	run *Run
	// urn is that of the provider resource; nil until it is configured. A plugin that only returns its schema has
	// none.
	urn atomic.Pointer[urn.URN]
}

const service = "pulumirpc.ResourceProvider"

// call makes a call within a span.
func (p *provider) call(ctx context.Context, c *providers.Call) error {
	attributes := []attribute.KeyValue{
		attribute.String("rpc.service", service), attribute.String("rpc.method", c.Method), attribute.String("sluice.package", p.pkg),
	}
	switch req := c.Request.(type) {
	case *providers.ConfigureRequest:
		p.urn.Store(&req.URN)
	case *providers.ListRequest:
		attributes = append(attributes, attribute.String("sluice.type", string(req.Type)))
	case *providers.ConstructRequest:
		attributes = append(attributes, attribute.String("sluice.type", string(req.Type)))
	case *providers.InvokeRequest:
		attributes = append(attributes, attribute.String("sluice.token", req.Token))
	case *providers.CallRequest:
		attributes = append(attributes, attribute.String("sluice.token", req.Token))
	}
	if c.URN != "" {
		attributes = append(attributes, attribute.String("sluice.urn", string(c.URN)), attribute.String("sluice.type", string(c.URN.Type())))
	}
	if own := p.urn.Load(); own != nil {
		attributes = append(attributes, attribute.String("sluice.provider", string(*own)))
	}
	ctx, span := p.run.tracer.Start(p.run.at(ctx, c.URN), service+"/"+c.Method, trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(attributes...))
	err := c.Do(ctx)
	end(span, err)
	return err
}
