package tracing

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

const one = urn.URN("urn:pulumi:dev::shop::a:b:C::one")

func begun(t *testing.T) (*Run, *tracetest.SpanRecorder) {
	recorded := tracetest.NewSpanRecorder()
	provider := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(recorded))
	ctx, span := provider.Tracer("test").Start(t.Context(), "caller")
	t.Cleanup(func() { span.End() })
	ctx, run := Begin(ctx, "update", stages.RunInfo{Stack: "dev"})
	require.NotNil(t, run)
	require.Equal(t, run.ctx, ctx)
	return run, recorded
}

// names returns the ended spans with their parents, in order.
func names(recorded *tracetest.SpanRecorder) []string {
	known := map[string]string{}
	for _, s := range recorded.Started() {
		known[s.SpanContext().SpanID().String()] = s.Name()
	}
	var out []string
	for _, s := range recorded.Ended() {
		out = append(out, known[s.Parent().SpanID().String()]+" > "+s.Name())
	}
	return out
}

func TestNobodyIsTracedWithoutASpan(t *testing.T) {
	ctx, run := Begin(t.Context(), "update", stages.RunInfo{})
	require.Nil(t, run)
	require.Equal(t, t.Context(), ctx)
	require.Zero(t, testing.AllocsPerRun(100, func() { _, _ = Begin(ctx, "update", stages.RunInfo{}) }))
}

func TestWhatGoesNoFurtherIsEnded(t *testing.T) {
	run, recorded := begun(t)
	lost := stages.Registered{PendingReply: stages.NewPendingReply(true), Goal: &stages.Goal{Type: "a:b:Lost"}}
	stopped := stages.Registered{PendingReply: stages.NewPendingReply(true), Goal: &stages.Goal{Type: "a:b:C"}}
	run.Registered(lost)
	run.Registered(stopped)
	run.Located(stages.Located{Registered: stopped, Seq: 1, URN: one})
	run.Stage(one, "analyze")
	run.Stage("another", "analyze") // of a stage of the caller's
	run.End(errors.New("a secret"))
	require.ElementsMatch(t, []string{
		"resource a:b:Lost > lookup", "update > resource a:b:Lost", "resource a:b:C > lookup", "resource a:b:C > check",
		"resource a:b:C > analyze", "update > resource a:b:C", "caller > update",
	}, names(recorded))
	for _, s := range recorded.Ended() {
		require.Empty(t, s.Status().Description)
		require.Empty(t, s.Events())
	}
}

// asked is a provider whose Delete fails.
type asked struct{ providers.Provider }

func (asked) Package() string { return "a" }

func (asked) Delete(context.Context, providers.DeleteRequest) error { return errors.New("no") }

func TestStepsWithoutARegistrationHaveSpans(t *testing.T) {
	run, recorded := begun(t)
	seen := 0
	observe := run.Observe(func(stages.Event) { seen++ })
	p, err := run.Host(providers.HostFunc(func(context.Context, providers.Spec) (providers.Provider, error) {
		return asked{}, nil
	})).Load(t.Context(), providers.Spec{Package: "a"})
	require.NoError(t, err)
	step := stages.StepInfo{Op: stages.OpDelete, URN: one}
	observe(stages.StepStarted{Step: step})
	failed := p.Delete(t.Context(), providers.DeleteRequest{URN: one})
	require.EqualError(t, failed, "no")
	observe(stages.StepFailed{Step: step, Err: failed})
	observe(stages.StepDone{Step: stages.StepInfo{Op: stages.OpSame, URN: one}})
	observe(stages.Ended{})
	run.End(nil)
	require.Equal(t, 4, seen)
	require.Equal(t, []string{
		"update > start provider", "delete > pulumirpc.ResourceProvider/Delete", "update > delete", "caller > update",
	}, names(recorded))
}

// ahead is a host that prepares.
type ahead struct{ providers.Host }

func (ahead) Prepare(_ context.Context, specs []providers.Spec) []providers.Spec { return specs }

func TestAHostThatPreparesStillDoes(t *testing.T) {
	run, recorded := begun(t)
	specs := []providers.Spec{{Package: "simple"}}
	prepared, can := run.Host(ahead{}).(providers.Preparer)
	require.True(t, can)
	require.Equal(t, specs, prepared.Prepare(t.Context(), specs))
	require.Equal(t, []string{"update > install plugins"}, names(recorded))
	require.Nil(t, run.Host(providers.HostFunc(nil)).(providers.Preparer).Prepare(t.Context(), specs))
}

// A registration is below the call of an SDK that sends its span, else below the program.
func TestRegistrationsAreBelowTheirCalls(t *testing.T) {
	run, recorded := begun(t)
	program, span := run.tracer.Start(run.ctx, "program")
	over := run.running(program)
	call, sdk := run.tracer.Start(program, "call")
	other := trace.ContextWithSpanContext(t.Context(), trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{1}, SpanID: trace.SpanID{2}}))
	for name, caller := range map[urn.Type]context.Context{"a:b:Silent": t.Context(), "a:b:Told": call, "a:b:Foreign": other} {
		q := stages.NewPendingReply(true)
		run.Submitted(stages.Submitted{PendingReply: q, Register: &stages.RegisterRequest{Type: name}, Caller: caller})
		run.Registered(stages.Registered{PendingReply: q, Goal: &stages.Goal{Type: name}})
	}
	run.Submitted(stages.Submitted{PendingReply: stages.NewPendingReply(true), Internal: &stages.Goal{Type: "a:b:Own"}})
	sdk.End()
	span.End()
	over()
	run.End(nil)
	require.Subset(t, names(recorded), []string{
		"program > resource a:b:Silent", "call > resource a:b:Told", "program > resource a:b:Foreign", "update > resource a:b:Own",
		"resource a:b:Told > register", "resource a:b:Own > register",
	})
}
