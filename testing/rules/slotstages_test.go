package rules

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/pipeline"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/stages"
)

func TestAPreviewShowsAllRefusals(t *testing.T) {
	refuses := func(e *sluice.Engine) {
		e.Checked.Insert(stageOf(func(_ context.Context, c stages.Checked, emit pipeline.Emit[stages.Checked]) error {
			if c.IsManaged() {
				return c.Refuse("not " + c.URN.Name())
			}
			return emit(c)
		}))
	}
	two := program(func(s *script) { s.thing("b", nil, from("of", s.thing("a", nil))) })
	k := newKit(t)
	for _, op := range []func(*sluice.Engine, context.Context) (*sluice.Result, error){preview, update} {
		out := k.try(func(ctx context.Context, o sluice.Options) (*sluice.Result, error) {
			e := sluice.Standard(o)
			refuses(e)
			return op(e, ctx)
		}, two)
		out.requireFailure("not a")
		require.Equal(t, out.summary().IsPreview, strings.Contains(out.err.Error(), "not b"))
	}
	require.Empty(t, k.names())
}

func TestAStageKnowsItsOperation(t *testing.T) {
	k := newKit(t)
	k.options.Parallel = 3
	var seen []stages.Operation
	engine := func(o sluice.Options) *sluice.Engine {
		e := sluice.Standard(o)
		e.Located.Insert(func(op stages.Operation) pipeline.Stage[stages.Located, stages.Located] {
			seen = append(seen, op)
			op.Diagnose("", stages.Info, "a stage is made")
			return pipeline.Stage[stages.Located, stages.Located]{Name: "mine", Run: func(_ context.Context, l stages.Located, emit pipeline.Emit[stages.Located]) error {
				if l.IsManaged() {
					op.Diagnose(l.URN, stages.Warning, "mind the gap")
				}
				return emit(l)
			}}
		})
		return e
	}
	for _, op := range []func(*sluice.Engine, context.Context) (*sluice.Result, error){preview, update, destroy} {
		out := k.try(func(ctx context.Context, o sluice.Options) (*sluice.Result, error) { return op(engine(o), ctx) }, program(one(nil)))
		require.NoError(t, out.err)
		require.Contains(t, out.events, stages.Diagnostic{LogMessage: stages.LogMessage{Severity: stages.Info, Message: "a stage is made"}})
		warned := stages.Diagnostic{LogMessage: stages.LogMessage{Severity: stages.Warning, Message: "mind the gap", URN: urnOf("a")}}
		if len(seen) < 3 {
			require.Contains(t, out.events, warned)
		}
	}
	var names []string
	for _, op := range seen {
		names = append(names, op.Name)
		require.Equal(t, "dev", op.Info.Stack)
		require.Equal(t, op.Name == "preview", op.Info.DryRun)
		require.Equal(t, op.Name == "destroy", op.Mode == stages.ModeDestroy)
	}
	require.Equal(t, []string{"preview", "update", "destroy"}, names)
}

// beside returns a stage that registers something else beside each thing, times times.
func beside(times int) func(stages.Operation) pipeline.Stage[stages.Registered, stages.Registered] {
	return stageOf(func(_ context.Context, r stages.Registered, emit pipeline.Emit[stages.Registered]) error {
		if err := emit(r); err != nil || !r.IsManaged() {
			return err
		}
		other := r.Also(&stages.Goal{
			Type: r.Goal.Type, Name: r.Goal.Name + "-too", Custom: true, Inputs: property.NewMap(map[string]property.Value{"n": property.Number(1)}),
		})
		for range times {
			if err := emit(other); err != nil {
				return err
			}
		}
		return nil
	})
}

func TestAStageMayRegisterSomethingBesideAnItem(t *testing.T) {
	k := newKit(t)
	up := func() *ran {
		return k.try(func(ctx context.Context, o sluice.Options) (*sluice.Result, error) {
			e := sluice.Standard(o)
			e.Registered.Insert(beside(1))
			e.Registered.Insert(stageOf(func(_ context.Context, r stages.Registered, emit pipeline.Emit[stages.Registered]) error {
				return emit(r)
			}))
			return e.Update(ctx)
		}, program(one(nil)))
	}
	require.NoError(t, up().err)
	require.Equal(t, []string{"a", "a-too"}, k.names())
	k.requireTruth()
	out := up()
	require.NoError(t, out.err)
	require.Empty(t, out.changed())
}

func TestWhatIsRegisteredBesideAnItemIsEmittedOnce(t *testing.T) {
	out := upWith(newKit(t), func(e *sluice.Engine) { e.Registered.Insert(beside(2)) })
	out.requireFailure(`it emitted test:index:Thing "a-too", which it has emitted before`)
}

func TestStandardStagesCanBeWrapped(t *testing.T) {
	var calls [4]atomic.Int32
	wrapped := func(e *sluice.Engine) {
		e.Replace.Import = wrap[stages.Located, stages.Located](&calls[0])
		e.Replace.Check = wrap[stages.Located, stages.Checked](&calls[1])
		e.Replace.Analyze = wrap[stages.Checked, stages.Analyzed](&calls[2])
		e.Replace.Diff = wrap[stages.Analyzed, stages.Diffed](&calls[3])
	}
	k := newKit(t)
	up := func(p func(s *script)) *ran {
		return k.try(func(ctx context.Context, o sluice.Options) (*sluice.Result, error) {
			e := sluice.Standard(o)
			wrapped(e)
			return e.Update(ctx)
		}, program(p))
	}
	k.exists("taken", in{"n": 1})
	require.NoError(t, up(func(s *script) {
		s.group("g")
		s.thing("b", in{"dbr": 1}, from("immutableOf", s.thing("a", in{"dbr": 1})))
		s.read("r", "taken")
	}).err)
	out := up(func(s *script) { s.thing("b", in{"dbr": 1}, from("immutableOf", s.thing("a", in{"dbr": 2}))) })
	require.NoError(t, out.err)
	require.Equal(t, []string{"delete b", "delete a", "create a", "create b"}, out.changed())
	for i := range calls {
		require.EqualValues(t, calls[0].Load(), calls[i].Load())
		require.NotZero(t, calls[i].Load())
	}
}

// wrap returns a replacement that counts and calls the standard stage.
func wrap[In, Out any](n *atomic.Int32) func(stages.Operation, pipeline.Stage[In, Out]) pipeline.Stage[In, Out] {
	return func(_ stages.Operation, standard pipeline.Stage[In, Out]) pipeline.Stage[In, Out] {
		own := standard
		own.Run = func(ctx context.Context, in In, emit pipeline.Emit[Out]) error {
			n.Add(1)
			return standard.Run(ctx, in, emit)
		}
		return own
	}
}

func TestAStandardStageCanBeReplaced(t *testing.T) {
	k := newKit(t)
	k.up(program(one(in{"size": 1})))
	never := func(ctx context.Context, o sluice.Options) (*sluice.Result, error) {
		e := sluice.Standard(o)
		e.Replace.Diff = func(stages.Operation, pipeline.Stage[stages.Analyzed, stages.Diffed]) pipeline.Stage[stages.Analyzed, stages.Diffed] {
			return pipeline.Stage[stages.Analyzed, stages.Diffed]{Name: "never", Run: func(_ context.Context, a stages.Analyzed, emit pipeline.Emit[stages.Diffed]) error {
				return emit(stages.Diffed{Analyzed: a, Compared: a.Old != nil})
			}}
		}
		return e.Update(ctx)
	}
	out := k.try(never, program(one(in{"size": 2})))
	require.NoError(t, out.err)
	require.Empty(t, out.changed())
}

func TestWhatTakesThePlaceOfAStandardStageKeepsTheRules(t *testing.T) {
	for text, check := range map[string]func(stages.Operation, pipeline.Stage[stages.Located, stages.Checked]) pipeline.Stage[stages.Located, stages.Checked]{
		`stage "mine" in the slot Check: it has not emitted`: func(stages.Operation, pipeline.Stage[stages.Located, stages.Checked]) pipeline.Stage[stages.Located, stages.Checked] {
			return pipeline.Stage[stages.Located, stages.Checked]{Name: "mine", Run: func(context.Context, stages.Located, pipeline.Emit[stages.Checked]) error { return nil }}
		},
		"the stage in place of the standard stage Check: its constructor: panic: boom": func(stages.Operation, pipeline.Stage[stages.Located, stages.Checked]) pipeline.Stage[stages.Located, stages.Checked] {
			panic("boom")
		},
		"it cannot be used: pipeline: mine needs a Run function": func(stages.Operation, pipeline.Stage[stages.Located, stages.Checked]) pipeline.Stage[stages.Located, stages.Checked] {
			return pipeline.Stage[stages.Located, stages.Checked]{Name: "mine"}
		},
	} {
		out := upWith(newKit(t), func(e *sluice.Engine) { e.Replace.Check = check })
		out.requireFailure(text)
	}
}
