package tracing

import (
	"context"
	"sync"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

// scope is the name of the instrumentation.
const scope = "github.com/sluice-iac/sluice"

// Run is the traces of one operation. Its methods may be called from many goroutines.
type Run struct {
	tracer trace.Tracer
	ctx    context.Context // with the span of the operation
	span   trace.Span

	mu sync.Mutex // guards the rest
	// program is the context with the span of the program while it runs; nil else.
	program context.Context
	// submitted are the registrations that are not complete yet.
	submitted map[*stages.PendingReply]*resource
	// entering are the registrations that have no URN yet. resources are those that are under way.
	entering  map[stages.Identity]*resource
	resources map[urn.URN]*resource
}

// resource is one registration on its way, or a resource with a step and no registration.
type resource struct {
	below context.Context // with the span that all this is below; nil is that of the operation
	open  []opened        // the registration, then its stage, then its step; the last is what goes on
}

// opened is a span that has not ended.
type opened struct {
	ctx  context.Context
	span trace.Span
	name string
}

// Begin returns the traces of an operation, and the context for it; nil if nobody records any.
func Begin(ctx context.Context, operation string, info stages.RunInfo) (context.Context, *Run) {
	caller := trace.SpanFromContext(ctx)
	if !caller.IsRecording() {
		return ctx, nil
	}
	r := &Run{
		tracer: caller.TracerProvider().Tracer(scope), entering: map[stages.Identity]*resource{}, resources: map[urn.URN]*resource{},
		submitted: map[*stages.PendingReply]*resource{},
	}
	r.ctx, r.span = r.tracer.Start(ctx, operation, trace.WithAttributes(
		attribute.String("sluice.project", info.Project), attribute.String("sluice.stack", info.Stack),
		attribute.String("sluice.organization", info.Organization), attribute.Bool("sluice.dry_run", info.DryRun),
	))
	return r.ctx, r
}

// End ends the span of the operation, and those of registrations that went no further.
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
	end(r.span, err)
}

// end ends a span. The text of an error is not in it.
func end(s trace.Span, err error) {
	if err != nil {
		s.SetStatus(codes.Error, "")
	}
	s.End()
}

// close ends what is open of a resource that did not come to its end.
func (x *resource) close() {
	for i := len(x.open) - 1; i >= 0; i-- {
		x.open[i].span.SetAttributes(attribute.Bool("sluice.unfinished", true))
		x.open[i].span.End()
	}
}

// begin opens a span below what goes on.
func (r *Run) begin(x *resource, name string, attributes ...attribute.KeyValue) {
	parent := r.ctx
	if x.below != nil {
		parent = x.below
	}
	if len(x.open) > 0 {
		parent = x.open[len(x.open)-1].ctx
	}
	ctx, span := r.tracer.Start(parent, name, trace.WithAttributes(attributes...))
	x.open = append(x.open, opened{ctx, span, name})
}

// endTo ends spans until n are open.
func (x *resource) endTo(n int, err error) {
	for len(x.open) > n {
		end(x.open[len(x.open)-1].span, err)
		x.open = x.open[:len(x.open)-1]
	}
}

// at returns the context of what goes on about a resource, that of ctx with its span. What is about none is below the span of ctx.
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

// callOf returns the context of a call of the program: its own if it says to which span of this trace it belongs, else that of the
// program. It needs the lock.
func (r *Run) callOf(ctx context.Context) context.Context {
	switch own := trace.SpanContextFromContext(ctx); {
	case own.IsValid() && own.TraceID() == r.span.SpanContext().TraceID():
		return ctx
	case r.program != nil:
		return r.program
	}
	return r.ctx
}

// Submitted says that a registration or a read has come in. What a provider constructs goes no further: the calls of the provider are
// in the place of its spans.
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
	r.begin(x, "register")
	r.submitted[i.PendingReply] = x
}

func (r *Run) enter(x *resource, t urn.Type) {
	r.begin(x, "resource "+string(t), attribute.String("sluice.type", string(t)))
}

// Registered says that a registration is complete and has not been located.
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
	r.begin(x, "lookup")
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

// Located says that a registration has its URN.
func (r *Run) Located(i stages.Located) {
	r.mu.Lock()
	defer r.mu.Unlock()
	key := i.Registered.Identity()
	x := r.entering[key]
	if x == nil {
		return // a stage of the caller's has made another one of it
	}
	delete(r.entering, key)
	if before := r.resources[i.URN]; before != nil {
		before.close() // the name is used twice, which is refused
	}
	x.open[0].span.SetAttributes(attribute.String("sluice.urn", string(i.URN)))
	r.resources[i.URN] = x
	x.endTo(1, nil)
	r.begin(x, "check")
}

// Stage says that a resource has left a stage and entered another one.
func (r *Run) Stage(u urn.URN, entered string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if x := r.resources[u]; x != nil && len(x.open) > 0 {
		x.endTo(1, nil)
		r.begin(x, entered)
	}
}

// Executed says that all steps of a registration are over.
func (r *Run) Executed(i stages.Executed) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if x := r.resources[i.URN]; x != nil {
		x.endTo(0, i.Err)
		delete(r.resources, i.URN)
	}
}

// Observe returns an observer that makes spans of steps, and then calls next; nil is none.
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
		return // there is nothing to do
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	x := r.resources[s.URN]
	if x == nil {
		x = &resource{}
		r.resources[s.URN] = x
	}
	r.begin(x, string(s.Op), attribute.String("sluice.urn", string(s.URN)), attribute.String("sluice.type", string(s.Type)))
}

func (r *Run) stepEnded(s stages.StepInfo, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	x := r.resources[s.URN]
	if x == nil || len(x.open) == 0 || x.open[len(x.open)-1].name != string(s.Op) {
		return
	}
	x.endTo(len(x.open)-1, err)
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

func (p program) Run(ctx context.Context, host source.Host) error {
	ctx, span := p.run.tracer.Start(trace.ContextWithSpan(ctx, p.run.span), "program")
	defer p.run.running(ctx)()
	err := p.Program.Run(ctx, host)
	end(span, err)
	return err
}

// running says that the program runs, in this context, until the function that it returns is called.
func (r *Run) running(ctx context.Context) (over func()) {
	set := func(ctx context.Context) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.program = ctx
	}
	set(ctx)
	return func() { set(nil) }
}
