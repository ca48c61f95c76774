package stagestest_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/pipeline"
	"github.com/sluice-iac/sluice/pipeline/await"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/stagestest"
)

type (
	located  = pipeline.Stage[stages.Located, stages.Located]
	emitting = pipeline.Emit[stages.Located]
)

func of(st located) stagestest.Stage[stages.Located] {
	return func(stages.Operation) located { return st }
}

func run(f func(stages.Located, emitting) error) stagestest.Stage[stages.Located] {
	return of(located{Name: "mine", Run: func(_ context.Context, l stages.Located, emit emitting) error { return f(l, emit) }})
}

func things() []stages.Located {
	var out []stages.Located
	for i := range 4 {
		ignores := func(g *stages.Goal) { g.IgnoreChanges = []string{"size"} }
		out = append(out, stagestest.Resource{Name: fmt.Sprint("thing", i), Seq: i + 1, Recorded: i%2 == 0, Change: ignores}.Located())
	}
	return out
}

func inputs(n float64) property.Map {
	return property.NewMap(map[string]property.Value{"size": property.Number(n)})
}

func TestRunCollectsWhatAStageDoes(t *testing.T) {
	stage := func(op stages.Operation) located {
		return located{Name: "mine", Run: func(_ context.Context, l stages.Located, emit emitting) error {
			op.Diagnose(l.URN, stages.Warning, op.Name+" of "+op.Info.Stack)
			if l.Old != nil {
				return l.Refuse("not " + l.URN.Name())
			}
			return emit(l)
		}}
	}
	preview := stagestest.Run(t.Context(), stages.RunInfo{DryRun: true}, stage, things()...)
	require.NoError(t, preview.Err)
	require.Len(t, preview.Emitted, 4, "a preview goes on")
	require.Len(t, preview.Refused, 2)
	require.EqualError(t, preview.Refused[1], "not thing2")
	require.Equal(t, "preview of dev", preview.Diagnosed[0].Message)

	update := stagestest.Run(t.Context(), stages.RunInfo{}, stage, things()...)
	require.ErrorContains(t, update.Err, "not thing0")
	require.Empty(t, update.Emitted)
	require.Len(t, update.Refused, 1)
	require.Equal(t, "update of dev", update.Diagnosed[0].Message)
}

func TestAStageThatCannotBeMadeIsAnError(t *testing.T) {
	require.ErrorContains(t, stagestest.Run(t.Context(), stages.RunInfo{}, of(located{}), things()...).Err, "cannot be used")
}

func TestItemsAreWhatTheirResourceIs(t *testing.T) {
	fresh := stagestest.Resource{Inputs: inputs(1)}
	require.Equal(t, stages.OpCreate, fresh.Built().Steps()[0].Op)
	require.True(t, fresh.Registered().IsManaged())
	require.False(t, stagestest.Resource{Component: true}.Located().IsManaged())

	same := stagestest.Resource{Inputs: inputs(1), Was: inputs(1), Recorded: true}
	require.Equal(t, stages.OpSame, same.Built().Steps()[0].Op)
	require.False(t, same.Diffed().Replaces())

	changed := stagestest.Resource{Inputs: inputs(2), Was: inputs(1), Recorded: true}
	require.Equal(t, stages.OpUpdate, changed.Built().Steps()[0].Op)
	require.Equal(t, []string{"size"}, changed.Diffed().Diff.ChangedKeys)

	changed.Replaces = true
	require.True(t, changed.Diffed().Replaces())
	require.Equal(t, stages.OpCreateReplacement, changed.Executed().Steps[0].Op)
	require.Equal(t, stages.OpDeleteReplaced, changed.Deleting().Op)
	require.True(t, changed.Deleting().IsManaged())
	require.EqualError(t, stagestest.Resource{Err: errors.New("boom")}.Deleted().Err, "boom")
	require.Equal(t, stages.EndPhaseSeq, same.Deleting().Seq)
}

// failures is a test that goes on when it fails.
type failures struct {
	testing.TB
	mu    sync.Mutex
	texts []string
}

func (f *failures) Errorf(format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.texts = append(f.texts, fmt.Sprintf(format, args...))
}

func TestCheckFindsTheRulesThatAStageBreaks(t *testing.T) {
	leaked := map[string]bool{}
	for name, c := range map[string]struct {
		stage stagestest.Stage[stages.Located]
		text  string
	}{
		"forgets": {run(func(stages.Located, emitting) error { return nil }), "it has not emitted"},
		"repeats": {run(func(l stages.Located, emit emitting) error { return errors.Join(emit(l), emit(l)) }), "which it has emitted before"},
		"refers to itself": {run(func(l stages.Located, emit emitting) error {
			if l.Goal != nil {
				own := *l.Goal
				own.DeletedWith = l.URN
				l.Goal = &own
			}
			return emit(l)
		}), "refer to itself"},
		"stops": {run(func(stages.Located, emitting) error { return pipeline.ErrStopped }), "it says that the pipeline has stopped, which is not so"},
		"returns a nil pointer as an error": {run(func(stages.Located, emitting) error { return (*stages.StageFailedError)(nil) }),
			"a method of the returned error, a *stages.StageFailedError, panicked"},
		"emits and returns an error": {run(func(l stages.Located, emit emitting) error { return errors.Join(emit(l), errors.New("boom")) }),
			"and then returned an error for it: boom; do one of the two"},
		"renames": {run(func(l stages.Located, emit emitting) error { l.URN += "x"; return emit(l) }), "or never got"},
		"changes a goal in place": {run(func(l stages.Located, emit emitting) error {
			if l.Goal != nil {
				l.Goal.Protect = new(bool)
			}
			return emit(l)
		}), "it changed Protect in the goal of"},
		"changes a list of a goal in place": {run(func(l stages.Located, emit emitting) error {
			if l.Goal != nil && len(l.Goal.IgnoreChanges) > 0 {
				l.Goal.IgnoreChanges[0] = "other"
			}
			return emit(l)
		}), "the stage has changed Goal.IgnoreChanges in place, from [size] to [other]"},
		"changes a recorded state in place": {run(func(l stages.Located, emit emitting) error {
			if l.Old != nil {
				l.Old.Protect = true
			}
			return emit(l)
		}), "the stage has changed Resource.Protect in place, from false to true"},
		"forgets reads":   {run(func(l stages.Located, emit emitting) error { l.Goal.Protect = nil; return emit(l) }), "the stage has panicked"},
		"forgets the new": {run(func(l stages.Located, emit emitting) error { _ = l.Old.ID; return emit(l) }), "the stage has panicked"},
		"remembers": {run(func(l stages.Located, emit emitting) error {
			if leaked[string(l.URN)] {
				return l.Refuse("seen before")
			}
			leaked[string(l.URN)] = true
			return emit(l)
		}), "other items have been emitted and refused"},
		"keeps": {func(stages.Operation) located {
			return located{
				Name: "mine", Run: func(context.Context, stages.Located, emitting) error { return nil },
				Flush: func(context.Context, emitting) error { return nil },
			}
		}, "its Flush has not emitted"},
		"depends on what waits": {func(stages.Operation) located {
			var kept []stages.Located
			return located{
				Name: "mine", Run: func(_ context.Context, l stages.Located, _ emitting) error { kept = append(kept, l); return nil },
				Flush: func(_ context.Context, emit emitting) error {
					var errs []error
					for _, l := range kept {
						if len(kept) > 5 {
							errs = append(errs, l.Refuse("too many"))
						}
						errs = append(errs, emit(l))
					}
					kept = nil
					return errors.Join(errs...)
				},
			}
		}, "a program that waits for each item: other items"},
	} {
		t.Run(name, func(t *testing.T) {
			f := &failures{TB: t}
			stagestest.Check(f, c.stage, things)
			require.Contains(t, strings.Join(f.texts, "\n"), c.text)
		})
	}
}

// By the clock of the test, nothing takes any time but the stage.
func TestCheckNamesAStageThatDoesNotReturn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &failures{TB: t}
		stagestest.Check(f, of(located{Name: "mine", Run: func(ctx context.Context, l stages.Located, emit emitting) error {
			if l.URN.Name() == "thing2" {
				<-ctx.Done()
				return context.Cause(ctx)
			}
			return emit(l)
		}}), things)
		require.Equal(t, []string{`a preview: stage "mine" in the slot Located: it has not returned from urn:pulumi:dev::shop::test:index:Thing::thing2 for 5s; the operation waits for it`}, f.texts)
	})
}

// A stage that looks at no context is left behind.
func TestCheckEndsWhateverAStageDoes(t *testing.T) {
	for name, waits := range map[string]func(op stages.Operation, released *await.Event) func(context.Context){
		"it waits in an update": func(op stages.Operation, _ *await.Event) func(context.Context) {
			return func(ctx context.Context) {
				if !op.Info.DryRun {
					<-ctx.Done()
				}
			}
		},
		"it waits for ever": func(_ stages.Operation, released *await.Event) func(context.Context) {
			return func(ctx context.Context) { _ = released.Wait(context.WithoutCancel(ctx)) }
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				released := await.NewEvent()
				defer released.Fire()
				f := &failures{TB: t}
				stagestest.Check(f, func(op stages.Operation) located {
					wait := waits(op, released)
					return located{Name: "mine", Run: func(ctx context.Context, l stages.Located, emit emitting) error {
						wait(ctx)
						return emit(l)
					}}
				}, things)
				require.Len(t, f.texts, 1)
				require.Contains(t, f.texts[0], "it has not returned from")
			})
		})
	}
}

func TestCheckReportsAMistakeOnce(t *testing.T) {
	for name, stage := range map[string]stagestest.Stage[stages.Located]{
		"forgets": run(func(l stages.Located, emit emitting) error {
			if l.URN.Name() == "thing1" {
				return nil
			}
			return emit(l)
		}),
		"emits and fails": run(func(l stages.Located, emit emitting) error {
			if err := emit(l); err != nil || l.URN.Name() != "thing1" {
				return err
			}
			return errors.New("boom")
		}),
		"panics": run(func(l stages.Located, emit emitting) error {
			if l.URN.Name() == "thing1" {
				panic("boom")
			}
			return emit(l)
		}),
	} {
		t.Run(name, func(t *testing.T) {
			f := &failures{TB: t}
			stagestest.Check(f, stage, things)
			require.Len(t, f.texts, 1)
			require.Contains(t, f.texts[0], "thing1")
		})
	}
}

func TestCheckFindsAGateThatOnlySaysThatItHasStopped(t *testing.T) {
	f := &failures{TB: t}
	stagestest.Check(f, func(stages.Operation) pipeline.Stage[stages.Deleting, stages.Deleting] {
		return pipeline.Stage[stages.Deleting, stages.Deleting]{
			Name: "gate", Run: func(context.Context, stages.Deleting, pipeline.Emit[stages.Deleting]) error {
				return pipeline.ErrStopped
			},
		}
	}, func() []stages.Deleting { return []stages.Deleting{stagestest.Resource{Name: "a"}.Deleting()} })
	require.Contains(t, strings.Join(f.texts, "\n"), "it says that the pipeline has stopped, which is not so: the delete of")
}

// Its own contexts may end.
func TestAnErrorOfAnotherContextIsARefusal(t *testing.T) {
	result := stagestest.Run(t.Context(), stages.RunInfo{}, run(func(stages.Located, emitting) error { return context.DeadlineExceeded }), things()...)
	require.Len(t, result.Refused, 1)
	require.ErrorIs(t, result.Refused[0], context.DeadlineExceeded)
}

func TestItemsOfACheckDiffer(t *testing.T) {
	f := &failures{TB: t}
	stage := func(stages.Operation) pipeline.Stage[stages.Executed, stages.Executed] {
		return pipeline.Stage[stages.Executed, stages.Executed]{Name: "mine"}
	}
	stagestest.Check(f, stage, func() []stages.Executed {
		return []stages.Executed{stagestest.Resource{}.Executed(), stagestest.Resource{}.Executed()}
	})
	require.Contains(t, strings.Join(f.texts, "\n"), "different identities")
}

func TestStagesThatKeepTheRulesPass(t *testing.T) {
	stagestest.Check(t, func(op stages.Operation) located {
		var mu sync.Mutex
		names := map[string]bool{}
		return located{Name: "mine", Workers: 8, Run: func(_ context.Context, l stages.Located, emit emitting) error {
			mu.Lock()
			names[string(l.URN)] = true
			mu.Unlock()
			if op.Info.DryRun && l.IsManaged() && l.Old == nil {
				return l.Refuse("no new things")
			}
			return emit(l)
		}}
	}, things)

	clears := true
	all := func(stages.Operation) pipeline.Stage[stages.Deleting, stages.Deleting] {
		var kept []stages.Deleting
		return pipeline.Stage[stages.Deleting, stages.Deleting]{
			Name: "all", Run: func(_ context.Context, d stages.Deleting, _ pipeline.Emit[stages.Deleting]) error {
				kept = append(kept, d)
				return nil
			},
			Flush: func(_ context.Context, emit pipeline.Emit[stages.Deleting]) error {
				for _, d := range kept {
					if err := emit(d); err != nil {
						return err
					}
				}
				if clears {
					kept = nil
				}
				return nil
			},
		}
	}
	deletes := func() []stages.Deleting {
		return []stages.Deleting{stagestest.Resource{Name: "a"}.Deleting(), stagestest.Resource{Name: "b"}.Deleting()}
	}
	stagestest.Check(t, all, deletes)
	clears = false
	f := &failures{TB: t}
	stagestest.Check(f, all, deletes)
	require.Contains(t, strings.Join(f.texts, "\n"), "the second group of an operation")
	pass[stages.Registered](t, stagestest.Resource.Registered)
	pass[stages.Checked](t, stagestest.Resource.Checked)
	pass[stages.Analyzed](t, stagestest.Resource.Analyzed)
	pass[stages.Diffed](t, stagestest.Resource.Diffed)
	pass[stages.Built](t, stagestest.Resource.Built)
	pass[stages.Executed](t, stagestest.Resource.Executed)
	pass[stages.Deleted](t, stagestest.Resource.Deleted)
}

func pass[T stagestest.Item](t *testing.T, item func(stagestest.Resource) T) {
	t.Helper()
	n := 0
	stage := func(stages.Operation) pipeline.Stage[T, T] {
		return pipeline.Stage[T, T]{Name: "pass", Run: func(_ context.Context, v T, emit pipeline.Emit[T]) error { n++; return emit(v) }}
	}
	stagestest.Check(t, stage, func() []T { return []T{item(stagestest.Resource{Name: "a"})} })
	require.NotZero(t, n)
}

type (
	checking      = pipeline.Stage[stages.Located, stages.Checked]
	emittingCheck = pipeline.Emit[stages.Checked]
)

// accept is a standard check whose provider accepts everything.
func accept(l stages.Located) (stages.Checked, error) {
	c := stages.Checked{Located: l}
	if l.Goal != nil {
		c.Inputs = l.Goal.Inputs
	}
	return c, nil
}

// instead is a stage in the place of the standard check.
func instead(f func(ctx context.Context, standard checking, l stages.Located, emit emittingCheck) error) stagestest.Replacement[stages.Located, stages.Checked] {
	return func(_ stages.Operation, standard checking) checking {
		return checking{Name: "mine", Workers: 4, Run: func(ctx context.Context, l stages.Located, emit emittingCheck) error {
			return f(ctx, standard, l, emit)
		}}
	}
}

func TestReplacementsAreHeldToTheRules(t *testing.T) {
	known := instead(func(ctx context.Context, standard checking, l stages.Located, emit emittingCheck) error {
		if l.IsManaged() && l.Old != nil {
			return emit(stages.Checked{Located: l, Inputs: inputs(7)}) // the provider is not called
		}
		return standard.Run(ctx, l, emit)
	})
	var asked atomic.Int64 // the stage has several workers
	counted := func(l stages.Located) (stages.Checked, error) { asked.Add(1); return accept(l) }
	result := stagestest.RunReplacement(t.Context(), stages.RunInfo{DryRun: true}, known, counted, things()...)
	require.NoError(t, result.Err)
	require.Len(t, result.Emitted, 4)
	require.EqualValues(t, 2, asked.Load())
	stagestest.CheckReplacement(t, known, accept, things)

	refusing := instead(func(_ context.Context, _ checking, l stages.Located, _ emittingCheck) error { return l.Refuse("no") })
	result = stagestest.RunReplacement(t.Context(), stages.RunInfo{DryRun: true}, refusing, accept, things()[0])
	require.ErrorContains(t, result.Err, "no", "a preview cannot go on without the stage")
	require.Len(t, result.Refused, 1)

	f := &failures{TB: t}
	stagestest.CheckReplacement(f, instead(func(context.Context, checking, stages.Located, emittingCheck) error { return nil }), accept, things)
	require.Contains(t, strings.Join(f.texts, "\n"), "it has not emitted")
}

func TestEachPlaceHasItsReplacements(t *testing.T) {
	replace[stages.Located](t, "Import", stagestest.Resource.Located)
	replace[stages.Checked](t, "Check", stagestest.Resource.Located)
	replace[stages.Analyzed](t, "Analyze", stagestest.Resource.Checked)
	replace[stages.Diffed](t, "Diff", stagestest.Resource.Analyzed)
}

func replace[Out, In stagestest.Item](t *testing.T, place string, item func(stagestest.Resource) In) {
	t.Helper()
	stage := func(_ stages.Operation, standard pipeline.Stage[In, Out]) pipeline.Stage[In, Out] {
		require.Equal(t, place, standard.Name)
		return standard
	}
	failing := func(In) (o Out, _ error) { return o, errors.New("boom") }
	require.ErrorContains(t, stagestest.RunReplacement(t.Context(), stages.RunInfo{}, stage, failing, item(stagestest.Resource{})).Err, "boom")
}
