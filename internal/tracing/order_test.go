package tracing

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// linked returns the links between spans, by the names of their resources: "b after a".
func linked(ended []sdktrace.ReadOnlySpan) (out []string) {
	names := map[string]string{}
	of := func(s sdktrace.ReadOnlySpan) string {
		for _, a := range s.Attributes() {
			if a.Key == "sluice.urn" {
				return urn.URN(a.Value.AsString()).Name()
			}
		}
		return s.Name()
	}
	for _, s := range ended {
		names[s.SpanContext().SpanID().String()] = of(s)
	}
	for _, s := range ended {
		for _, l := range s.Links() {
			out = append(out, of(s)+" after "+names[l.SpanContext.SpanID().String()])
		}
	}
	return out
}

func named(name string) urn.URN { return urn.New("dev", "shop", "", "a:b:C", name) }

// register registers a resource, and creates it if op is a create, up to its reply.
func register(run *Run, name string, op stages.Op, after ...urn.URN) {
	q := stages.NewPendingReply(true)
	r := stages.Registered{PendingReply: q, Goal: &stages.Goal{Type: "a:b:C", Dependencies: after}}
	run.Registered(r)
	run.Located(stages.Located{Registered: r, Seq: 1, URN: named(name)})
	observe := run.Observe(nil)
	step := stages.StepInfo{Op: op, URN: named(name), Type: "a:b:C", Reason: stages.Reason{Kind: stages.ReasonInputs, Properties: []string{"size", "tags.k3y", "tags[0]"}}}
	observe(stages.StepStarted{Step: step})
	observe(stages.StepDone{Step: step})
}

// After its reply, the program may register dependents before the registration leaves the last stage.
func TestAResourceIsLinkedToWhatItDependsOn(t *testing.T) {
	run, recorded := begun(t)
	register(run, "made", stages.OpCreate)
	register(run, "same", stages.OpSame, named("made"))
	register(run, "last", stages.OpUpdate, named("same"), named("made"), named("unknown"), named("same"))
	for _, name := range []string{"made", "same", "last"} {
		run.Executed(stages.Executed{URN: named(name), Steps: []*stages.Decision{{StepInfo: stages.StepInfo{Op: stages.OpSame}}}})
	}
	run.End(nil)
	require.Equal(t, []string{"same after made", "last after made", "last after same"}, linked(recorded.Ended()), "what ended last is last")
	for _, s := range recorded.Ended() {
		require.NotContains(t, fmt.Sprint(s.Attributes()), "k3y", "a key may be a secret")
	}
}

func TestADeleteIsLinkedToTheDeletesThatItWaitedFor(t *testing.T) {
	run, recorded := begun(t)
	observe := run.Observe(nil)
	remove := func(name string, refers ...urn.URN) {
		step := stages.StepInfo{Op: stages.OpDelete, URN: named(name), Old: &state.Resource{Dependencies: refers, Parent: named("base")}}
		observe(stages.StepStarted{Step: step})
		observe(stages.StepDone{Step: step})
	}
	remove("web", named("base"), named("disk"))
	remove("disk")
	remove("base")
	run.End(nil)
	require.Equal(t, []string{"disk after web", "base after web", "base after disk"}, linked(recorded.Ended()))
}

func TestARefreshWaitsForNothing(t *testing.T) {
	run, recorded := begun(t)
	observe := run.Observe(nil)
	for _, name := range []string{"a", "b"} {
		step := stages.StepInfo{Op: stages.OpRefresh, URN: named(name), New: &state.Resource{Dependencies: []urn.URN{named("a")}}}
		observe(stages.StepStarted{Step: step})
		observe(stages.StepDone{Step: step})
	}
	run.End(nil)
	require.Empty(t, linked(recorded.Ended()))
}

func TestASpanHasLinksToWhatEndedLast(t *testing.T) {
	o := newOrder()
	run, _ := begun(t)
	var all []urn.URN
	for i := range 2 * mostLinks {
		all = append(all, named(fmt.Sprint(i)))
		_, span := run.tracer.Start(run.ctx, "x")
		o.done(all[i], span)
	}
	links := o.before(all)
	require.Len(t, links, mostLinks)
	require.Equal(t, o.resources[all[len(all)-1]].span, links[mostLinks-1])
}

func TestWaitsAreSpans(t *testing.T) {
	run, recorded := begun(t)
	over := run.Waits(t.Context(), providers.LimitedCall{Limit: "few", Package: "simple", Method: providers.MethodCreate, URN: one})
	over()
	run.Queued(2)
	run.Queued(1)
	run.Queued(0)
	run.Queued(3)
	run.Phase("open")()
	run.End(nil)
	require.Equal(t, []string{
		"update > wait for limit", "update > wait for limit", "update > phase open", "update > wait for limit", "caller > update",
	}, names(recorded), "the time without a free worker is one span")
}
