package tracing

import (
	"context"
	"slices"
	"strings"
	"sync"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

// scope is the name of the instrumentation.
const scope = "github.com/sluice-iac/sluice"

// Run has the traces of one operation. Its methods may be called from many goroutines.
type Run struct {
	tracer trace.Tracer
	ctx    context.Context // with the span of the operation
	span   trace.Span

	mu sync.Mutex // guards the rest
	// program is the context with the span of the program while it runs; otherwise nil.
	program context.Context
	// submitted are the registrations that are not complete yet.
	submitted map[*stages.PendingReply]*resource
	// entering are the registrations without a URN so far. resources are those in progress.
	entering  map[stages.Identity]*resource
	resources map[urn.URN]*resource
	// order has the ended spans, for links from later ones.
	order order
	// queue is the span of the time in which tasks wait for a worker; nil if none waits.
	queue trace.Span
}

// resource is one registration in progress, or a resource with a step and no registration.
type resource struct {
	below context.Context // with the parent span of these; nil means that of the operation
	open  []opened        // the registration, then its stage, then its step; the last one is current
}

// opened is a span that has not ended.
type opened struct {
	ctx  context.Context
	span trace.Span
	name string
}

// Begin returns the traces of an operation, and the context for it; nil if nothing records spans.
func Begin(ctx context.Context, operation string, info stages.RunInfo) (context.Context, *Run) {
	caller := trace.SpanFromContext(ctx)
	if !caller.IsRecording() {
		return ctx, nil
	}
	r := &Run{
		tracer: caller.TracerProvider().Tracer(scope), entering: map[stages.Identity]*resource{}, resources: map[urn.URN]*resource{},
		submitted: map[*stages.PendingReply]*resource{}, order: newOrder(),
	}
	r.ctx, r.span = r.tracer.Start(ctx, operation, trace.WithAttributes(
		attribute.String("sluice.project", info.Project), attribute.String("sluice.stack", info.Stack),
		attribute.String("sluice.organization", info.Organization), attribute.Bool("sluice.dry_run", info.DryRun),
		attribute.Int("sluice.parallel", info.Parallel),
	))
	return r.ctx, r
}

// End ends the span of the operation, and those of registrations that have stopped.
func (r *Run) End(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, x := range r.submitted {
		x.close()
	}
	for _, x := range r.entering {
		x.close()
	}
	for _, x := range r.resources {
		x.close()
	}
	r.setQueue(0)
	end(r.span, err)
}

// end ends a span. It leaves out the text of an error.
func end(s trace.Span, err error) {
	if err != nil {
		s.SetStatus(codes.Error, "")
	}
	s.End()
}

// close ends the open spans of a resource that was not completed.
func (x *resource) close() {
	for i := len(x.open) - 1; i >= 0; i-- {
		x.open[i].span.SetAttributes(attribute.Bool("sluice.unfinished", true))
		x.open[i].span.End()
	}
}

// begin opens a span below the current one, with links to those that it waited for.
func (r *Run) begin(x *resource, name string, links []trace.Link, attributes ...attribute.KeyValue) {
	parent := r.ctx
	if x.below != nil {
		parent = x.below
	}
	if len(x.open) > 0 {
		parent = x.open[len(x.open)-1].ctx
	}
	ctx, span := r.tracer.Start(parent, name, trace.WithLinks(links...), trace.WithAttributes(attributes...))
	x.open = append(x.open, opened{ctx, span, name})
}

// endTo ends spans until n are open.
func (x *resource) endTo(n int, err error) {
	for len(x.open) > n {
		end(x.open[len(x.open)-1].span, err)
		x.open = x.open[:len(x.open)-1]
	}
}

// at returns ctx with the current span of a resource. Without a resource, it keeps the span of ctx.
func (r *Run) at(ctx context.Context, u urn.URN) context.Context {
	r.mu.Lock()
	defer r.mu.Unlock()
	if x := r.resources[u]; x != nil && len(x.open) > 0 {
		return trace.ContextWithSpan(ctx, x.open[len(x.open)-1].span)
	}
	if u == "" {
		return trace.ContextWithSpan(ctx, trace.SpanFromContext(r.callOf(ctx)))
	}
	return trace.ContextWithSpan(ctx, r.span)
}

// callOf returns the context for a call of the program: its own if it names its parent span in this trace, else that of the program. The
// caller holds the lock.
func (r *Run) callOf(ctx context.Context) context.Context {
	switch own := trace.SpanContextFromContext(ctx); {
	case own.IsValid() && own.TraceID() == r.span.SpanContext().TraceID():
		return ctx
	case r.program != nil:
		return r.program
	}
	return r.ctx
}

// Submitted begins the span of a registration or a read. A resource that a provider constructs gets none, because the calls of the
// provider stand for it.
func (r *Run) Submitted(i stages.Submitted) {
	r.mu.Lock()
	defer r.mu.Unlock()
	x := &resource{}
	if i.Caller != nil {
		x.below = r.callOf(i.Caller)
	}
	switch {
	case i.Register != nil && i.Register.Remote:
		return
	case i.Register != nil:
		r.enter(x, i.Register.Type)
	case i.Read != nil:
		r.enter(x, i.Read.Type)
	case i.Internal != nil:
		r.enter(x, i.Internal.Type)
	}
	r.begin(x, "register", nil)
	r.submitted[i.PendingReply] = x
}

func (r *Run) enter(x *resource, t urn.Type) {
	r.begin(x, "resource "+string(t), nil, attribute.String("sluice.type", string(t)))
}

// Registered records that a registration is complete and not located yet.
func (r *Run) Registered(i stages.Registered) {
	r.mu.Lock()
	defer r.mu.Unlock()
	x := r.submitted[i.PendingReply]
	delete(r.submitted, i.PendingReply)
	if x == nil { // a stage of the caller's has made it
		x = &resource{}
		r.enter(x, typeOf(i))
	}
	x.endTo(1, nil)
	r.begin(x, "lookup", nil)
	r.entering[i.Identity()] = x
}

func typeOf(i stages.Registered) urn.Type {
	switch {
	case i.Goal != nil:
		return i.Goal.Type
	case i.Read != nil:
		return i.Read.Type
	}
	return ""
}

// Located records that a registration has its URN.
func (r *Run) Located(i stages.Located) {
	r.mu.Lock()
	defer r.mu.Unlock()
	key := i.Registered.Identity()
	x := r.entering[key]
	if x == nil {
		return // a stage of the caller's has made another item
	}
	delete(r.entering, key)
	if before := r.resources[i.URN]; before != nil {
		before.close() // the name is used twice, which is refused
	}
	x.open[0].span.SetAttributes(attribute.String("sluice.urn", string(i.URN)))
	for _, l := range r.linksTo(r.order.before(references(i.Registered))) {
		x.open[0].span.AddLink(l)
	}
	r.resources[i.URN] = x
	x.endTo(1, nil)
	r.begin(x, "check", nil)
}

// Stage records that a resource has left a stage and entered another one.
func (r *Run) Stage(u urn.URN, entered string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if x := r.resources[u]; x != nil && len(x.open) > 0 {
		x.endTo(1, nil)
		r.begin(x, entered, nil)
	}
}

// Executed records that all steps of a registration are over.
func (r *Run) Executed(i stages.Executed) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if x := r.resources[i.URN]; x != nil {
		first := x.open[0].span
		for _, s := range i.Steps {
			if s.Op.IsLogical() {
				first.SetAttributes(attribute.String("sluice.op", string(s.Op)))
				break
			}
		}
		x.endTo(0, i.Err)
		delete(r.resources, i.URN)
	}
}

// Waits begins the span of a call's wait for a limit. The span ends when over is called.
func (r *Run) Waits(ctx context.Context, c providers.LimitedCall) (over func()) {
	_, span := r.tracer.Start(r.at(ctx, c.URN), waiting, trace.WithAttributes(
		attribute.String("sluice.limit", c.Limit), attribute.String("sluice.package", c.Package), attribute.String("rpc.method", string(c.Method)),
		attribute.String("sluice.urn", string(c.URN)), attribute.String("sluice.type", string(c.Type)),
	))
	return func() { span.End() }
}

// waiting is the name of the span of a wait for a limit.
const waiting = "wait for limit"

// Queued sets how many tasks wait only for a worker.
func (r *Run) Queued(tasks int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.setQueue(tasks)
}

// setQueue is called with the lock held.
func (r *Run) setQueue(tasks int) {
	switch {
	case tasks > 0 && r.queue == nil:
		_, r.queue = r.tracer.Start(r.ctx, waiting, trace.WithAttributes(attribute.String("sluice.limit", "workers")))
	case tasks == 0 && r.queue != nil:
		r.queue.End()
		r.queue = nil
	}
}

// Phase begins the span of a phase of the operation. The span ends when over is called.
func (r *Run) Phase(name string) (over func()) {
	_, span := r.tracer.Start(r.ctx, "phase "+name)
	return func() { span.End() }
}

// Observe returns an observer that makes spans of steps, and then calls next, which may be nil.
func (r *Run) Observe(next func(stages.Event)) func(stages.Event) {
	return func(e stages.Event) {
		switch e := e.(type) {
		case stages.StepStarted:
			r.stepStarted(e.Step)
		case stages.StepDone:
			if !e.Outputs {
				r.stepEnded(e.Step, nil)
			}
		case stages.StepFailed:
			r.stepEnded(e.Step, e.Err)
		}
		if next != nil {
			next(e)
		}
	}
}

func (r *Run) stepStarted(s stages.StepInfo) {
	if s.Op == stages.OpSame {
		return // it has no steps
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	x := r.resources[s.URN]
	var links []trace.Link
	if x == nil {
		x = &resource{}
		r.resources[s.URN] = x
		links = r.linksTo(r.order.beforeStep(s))
	}
	attributes := []attribute.KeyValue{
		attribute.String("sluice.urn", string(s.URN)), attribute.String("sluice.type", string(s.Type)), attribute.String("sluice.op", string(s.Op)),
	}
	if s.Reason.Kind != stages.ReasonNone {
		attributes = append(attributes, attribute.String("sluice.reason", string(s.Reason.Kind)))
	}
	if names := topLevel(s.Reason.Properties); len(names) > 0 {
		attributes = append(attributes, attribute.StringSlice("sluice.properties", names))
	}
	if ref, err := urn.ParseProviderRef(s.Provider); err == nil {
		attributes = append(attributes, attribute.String("sluice.provider", string(ref.URN)))
	}
	r.begin(x, string(s.Op), links, attributes...)
}

// topLevel returns the names of the properties that paths begin with. A deeper element may be a user's key, which may be a secret.
func topLevel(paths []string) []string {
	var names []string
	for _, path := range paths {
		if i := strings.IndexAny(path, ".["); i >= 0 {
			path = path[:i]
		}
		if path != "" && !slices.Contains(names, path) {
			names = append(names, path)
		}
	}
	return names
}

// linksTo returns links to spans of this trace.
func (r *Run) linksTo(spans []trace.SpanID) []trace.Link {
	own := r.span.SpanContext()
	links := make([]trace.Link, 0, len(spans))
	for _, id := range spans {
		links = append(links, trace.Link{SpanContext: own.WithSpanID(id)})
	}
	return links
}

func (r *Run) stepEnded(s stages.StepInfo, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	x := r.resources[s.URN]
	if x == nil || len(x.open) == 0 {
		return
	}
	first := x.open[0].span
	if last := x.open[len(x.open)-1]; last.name == string(s.Op) {
		x.endTo(len(x.open)-1, err)
		if stages.Removes(s.Op) {
			r.order.removed(s, last.span)
		}
	}
	if !stages.Removes(s.Op) {
		r.order.done(s.URN, first) // the program gets its reply now, before the registration has left the last stage
	}
	if len(x.open) == 0 {
		delete(r.resources, s.URN)
	}
}

// Program returns p with a span for each run.
func (r *Run) Program(p source.Program) source.Program {
	if p == nil {
		return nil
	}
	return program{p, r}
}

type program struct {
	source.Program
	run *Run
}

func (p program) Packages(ctx context.Context) ([]stages.Package, error) {
	ctx, span := p.run.tracer.Start(trace.ContextWithSpan(ctx, p.run.span), "packages of the program")
	list, err := p.Program.Packages(ctx)
	end(span, err)
	return list, err
}

// Prepare implements [source.Preparer], for programs that do.
func (p program) Prepare(ctx context.Context, log func(stages.LogMessage)) error {
	inner, needed := p.Program.(source.Preparer)
	if !needed {
		return nil
	}
	ctx, span := p.run.tracer.Start(trace.ContextWithSpan(ctx, p.run.span), "preparation of the program")
	err := inner.Prepare(ctx, log)
	end(span, err)
	return err
}

// Locate implements [source.Locator], for programs that do.
func (p program) Locate(u urn.URN, path property.Path) (stages.Place, bool) {
	inner, knows := p.Program.(source.Locator)
	if !knows {
		return stages.Place{}, false
	}
	return inner.Locate(u, path)
}

func (p program) Run(ctx context.Context, host source.Host) error {
	ctx, span := p.run.tracer.Start(trace.ContextWithSpan(ctx, p.run.span), "program")
	defer p.run.running(ctx)()
	err := p.Program.Run(ctx, host)
	end(span, err)
	return err
}

// running begins the span of the running program, which becomes the parent in ctx. The span ends when over is called.
func (r *Run) running(ctx context.Context) (over func()) {
	set := func(ctx context.Context) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.program = ctx
	}
	set(ctx)
	return func() { set(nil) }
}

// Host returns h with spans for the start of providers and for their calls.
func (r *Run) Host(h providers.Host) providers.Host { return host{h, r} }
