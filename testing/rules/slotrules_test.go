package rules

import (
	"context"
	"errors"
	"reflect"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-multierror"
	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/pipeline"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
)

// stageOf returns the constructor of a stage that calls run.
func stageOf[T any](run func(ctx context.Context, in T, emit pipeline.Emit[T]) error) func(stages.Operation) pipeline.Stage[T, T] {
	return func(stages.Operation) pipeline.Stage[T, T] { return pipeline.Stage[T, T]{Name: "mine", Run: run} }
}

// forgets returns a stage that does not emit the items for which forgotten returns true.
func forgets[T any](forgotten func(T) bool) func(stages.Operation) pipeline.Stage[T, T] {
	return stageOf(func(_ context.Context, in T, emit pipeline.Emit[T]) error {
		if forgotten(in) {
			return nil
		}
		return emit(in)
	})
}

// upWith runs an update of a and then b, with stages in the slots. The state and the cloud must agree after it.
func upWith(k *kit, insert func(*sluice.Engine)) *ran {
	k.t.Helper()
	op := func(ctx context.Context, o sluice.Options) (*sluice.Result, error) {
		e := sluice.Standard(o)
		insert(e)
		return e.Update(ctx)
	}
	out := k.try(op, program(func(s *script) {
		s.thing("a", nil)
		s.thing("b", nil)
	}))
	k.requireTruth()
	return out
}

func TestAStageThatForgetsAnItemFailsTheRun(t *testing.T) {
	const b = "urn:pulumi:dev::p::test:index:Thing::b"
	for name, c := range map[string]struct {
		insert func(*sluice.Engine)
		item   string
	}{
		"Registered": {func(e *sluice.Engine) {
			e.Registered.Insert(forgets(func(r stages.Registered) bool { return r.Goal.Name == "b" }))
		}, `test:index:Thing "b"`},
		"Located": {func(e *sluice.Engine) {
			e.Located.Insert(forgets(func(l stages.Located) bool { return l.URN.Name() == "b" }))
		}, b},
		"Checked": {func(e *sluice.Engine) {
			e.Checked.Insert(forgets(func(l stages.Checked) bool { return l.URN.Name() == "b" }))
		}, b},
		"Analyzed": {func(e *sluice.Engine) {
			e.Analyzed.Insert(forgets(func(l stages.Analyzed) bool { return l.URN.Name() == "b" }))
		}, b},
		"Diffed": {func(e *sluice.Engine) {
			e.Diffed.Insert(forgets(func(l stages.Diffed) bool { return l.URN.Name() == "b" }))
		}, b},
		"Built": {func(e *sluice.Engine) {
			e.Built.Insert(forgets(func(l stages.Built) bool { return l.URN.Name() == "b" }))
		}, b},
		"Executed": {func(e *sluice.Engine) {
			e.Executed.Insert(forgets(func(l stages.Executed) bool { return l.URN.Name() == "b" }))
		}, b},
	} {
		t.Run(name, func(t *testing.T) {
			out := upWith(newKit(t), c.insert)
			out.requireFailure(`stage "mine" in the slot ` + name + `: it has not emitted ` + c.item)
			require.Contains(t, recordedNames(out), "a")
		})
	}
}

// recordedNames returns the names of all recorded resources.
func recordedNames(out *ran) (names []string) {
	for _, r := range out.snapshot.Resources {
		names = append(names, r.URN.Name())
	}
	return names
}

func TestWhatAStageEmitsIsWhatItGot(t *testing.T) {
	located := func(run func(l stages.Located, emit pipeline.Emit[stages.Located]) error) func(*sluice.Engine) {
		return func(e *sluice.Engine) {
			e.Located.Insert(stageOf(func(_ context.Context, l stages.Located, emit pipeline.Emit[stages.Located]) error {
				if l.URN.Name() != "b" {
					return emit(l)
				}
				return run(l, emit)
			}))
		}
	}
	registered := func(run func(r stages.Registered, emit pipeline.Emit[stages.Registered]) error) func(*sluice.Engine) {
		return func(e *sluice.Engine) {
			e.Registered.Insert(stageOf(func(_ context.Context, r stages.Registered, emit pipeline.Emit[stages.Registered]) error {
				if r.Goal.Name != "b" {
					return emit(r)
				}
				return run(r, emit)
			}))
		}
	}
	for name, c := range map[string]struct {
		insert func(*sluice.Engine)
		text   string
	}{
		"a second time, whatever the stage makes of the error": {located(func(l stages.Located, emit pipeline.Emit[stages.Located]) error {
			_ = emit(l)
			_ = emit(l)
			return nil
		}), "which it has emitted before or never got"},
		"a copy with another name": {registered(func(r stages.Registered, emit pipeline.Emit[stages.Registered]) error {
			c := r
			goal := *r.Goal
			goal.Name = "copy"
			c.Goal = &goal
			if err := emit(r); err != nil {
				return err
			}
			return emit(c)
		}), `it emitted test:index:Thing "copy", which it has emitted before`},
		"with another URN": {located(func(l stages.Located, emit pipeline.Emit[stages.Located]) error {
			l.URN = urnOf("other")
			return emit(l)
		}), "it emitted urn:pulumi:dev::p::test:index:Thing::other, which it has emitted before or never got"},
		"with a reply of its own": {registered(func(r stages.Registered, emit pipeline.Emit[stages.Registered]) error {
			r.PendingReply = stages.NewPendingReply(true)
			return emit(r)
		}), "which it has emitted before or never got"},
		"without its reply": {registered(func(r stages.Registered, emit pipeline.Emit[stages.Registered]) error {
			return emit(stages.Registered{Goal: r.Goal})
		}), "without its PendingReply"},
		"with a zero reply": {registered(func(r stages.Registered, emit pipeline.Emit[stages.Registered]) error {
			return emit(stages.Registered{PendingReply: &stages.PendingReply{}, Goal: r.Goal})
		}), "without its PendingReply"},
		"after its answer": {registered(func(r stages.Registered, emit pipeline.Emit[stages.Registered]) error {
			r.Answer(&stages.RegisterReply{})
			return emit(r)
		}), `it emitted test:index:Thing "b", whose program has its reply already`},
		"with a provider that is none": {registered(func(r stages.Registered, emit pipeline.Emit[stages.Registered]) error {
			goal := *r.Goal
			goal.Provider = "nobody"
			r.Goal = &goal
			return emit(r)
		}), `it emitted test:index:Thing "b" with a provider that cannot be found`},
		"with a sibling without a goal": {registered(func(r stages.Registered, emit pipeline.Emit[stages.Registered]) error {
			return errors.Join(emit(r.Also(nil)), emit(r))
		}), "it emitted what cannot go on: a registration without a goal needs either a Goal or a Read"},
		"with a sibling whose provider is none": {registered(func(r stages.Registered, emit pipeline.Emit[stages.Registered]) error {
			goal := *r.Goal
			goal.Name, goal.Provider = "c", "nobody"
			return errors.Join(emit(r.Also(&goal)), emit(r))
		}), `it emitted test:index:Thing "c" with a provider that cannot be found`},
		"and not an empty item": {func(e *sluice.Engine) {
			e.Executed.Insert(stageOf(func(_ context.Context, _ stages.Executed, emit pipeline.Emit[stages.Executed]) error {
				return emit(stages.Executed{})
			}))
		}, "it emitted an item without a URN, which it has emitted before or never got; emit each item once, as it came"},
		"without a goal": {registered(func(r stages.Registered, emit pipeline.Emit[stages.Registered]) error {
			return emit(stages.Registered{PendingReply: r.PendingReply})
		}), "a registration without a goal"},
		"without its reply, when the steps are built": {func(e *sluice.Engine) {
			e.Built.Insert(stageOf(func(_ context.Context, b stages.Built, emit pipeline.Emit[stages.Built]) error {
				b.PendingReply = nil
				return emit(b)
			}))
		}, `stage "mine" in the slot Built`},
	} {
		t.Run(name, func(t *testing.T) {
			out := upWith(newKit(t), c.insert)
			out.requireFailure(`stage "mine" in the slot `)
			out.requireFailure(c.text)
			var broken *stages.SlotError
			require.ErrorAs(t, out.err, &broken)
			require.Equal(t, "mine", broken.Stage)
		})
	}
}

// A stage may reject a registration that has no number yet.
func TestARegistrationMayBeRejectedBeforeItIsNumbered(t *testing.T) {
	out := upWith(newKit(t), func(e *sluice.Engine) {
		e.Registered.Insert(stageOf(func(_ context.Context, r stages.Registered, emit pipeline.Emit[stages.Registered]) error {
			if r.Goal.Name == "b" {
				r.Reject(errors.New("b is not for you"))
				return nil
			}
			return emit(r)
		}))
	})
	out.requireFailure("b is not for you")
	require.False(t, errors.As(out.err, new(*stages.SlotError)))
}

func TestASiblingNeedsAType(t *testing.T) {
	for name, goal := range map[string]*stages.Goal{
		"component": {Name: "c"}, "custom": {Name: "c", Type: "thing", Custom: true},
	} {
		t.Run(name, func(t *testing.T) {
			out := upWith(newKit(t), func(e *sluice.Engine) {
				e.Registered.Insert(stageOf(func(_ context.Context, r stages.Registered, emit pipeline.Emit[stages.Registered]) error {
					if err := emit(r); err != nil || r.Goal.Name != "b" {
						return err
					}
					return emit(r.Also(goal))
				}))
			})
			out.requireFailure(`stage "mine" in the slot Registered: it emitted what cannot go on: the type "` + string(goal.Type) +
				`" of the resource "c" is not <package>:<module>:<type>`)
		})
	}
}

func TestAPanicOfAStageIsTheOnlyFailure(t *testing.T) {
	boom := errors.New("boom")
	for name, keeps := range map[string]bool{"Run": false, "Flush": true} {
		t.Run(name, func(t *testing.T) {
			k := newKit(t)
			e := sluice.Standard(withProgram(k, func(s *script) { s.thing("a", nil) }))
			e.Located.Insert(func(stages.Operation) pipeline.Stage[stages.Located, stages.Located] {
				st := stageOf(func(context.Context, stages.Located, pipeline.Emit[stages.Located]) error {
					if keeps {
						return nil
					}
					panic(boom)
				})(stages.Operation{})
				if keeps {
					st.Flush = func(context.Context, pipeline.Emit[stages.Located]) error { panic(boom) }
				}
				return st
			})
			_, err := e.Update(t.Context())
			require.ErrorIs(t, err, boom)
			var failed *sluice.FailedError
			require.ErrorAs(t, err, &failed)
			var all *multierror.Error
			require.ErrorAs(t, failed.Err, &all)
			require.Len(t, all.Errors, 1)
			var panicked *pipeline.PanicError
			require.ErrorAs(t, all.Errors[0], &panicked)
			var of *stages.StageFailedError
			require.ErrorAs(t, all.Errors[0], &of)
			require.Contains(t, err.Error(), `stage "mine" in the slot Located`)
			require.Contains(t, err.Error(), "panic: boom")
			if !keeps {
				require.Equal(t, "default", of.URN.Name(), "the provider comes first")
			}
		})
	}
}

// By the clock of the test, the operation takes no time.
func TestTheContextOfAFunctionEndsWithTheRun(t *testing.T) {
	for name, end := range map[string]func(o *sluice.Options, cancel func()){
		"caller":     func(_ *sluice.Options, cancel func()) { cancel() },
		"interrupts": func(o *sluice.Options, _ func()) { o.Interrupts.Stop() },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				k := newKit(t)
				o := withProgram(k, func(*script) {})
				o.Interrupts = &sluice.Interrupts{}
				o.Program = source.Func(func(ctx context.Context, _ stages.Monitor) error {
					end(&o, cancel)
					<-ctx.Done()
					return context.Cause(ctx)
				})
				began := time.Now()
				_, err := sluice.Update(ctx, o)
				require.Error(t, err)
				require.Zero(t, time.Since(began))
			})
		})
	}
}

// pairs is a stage that holds every other item.
func pairs(flush bool) func(stages.Operation) pipeline.Stage[stages.Located, stages.Located] {
	return func(stages.Operation) pipeline.Stage[stages.Located, stages.Located] {
		var kept []stages.Located
		letGo := func(emit pipeline.Emit[stages.Located]) error {
			for _, l := range kept {
				if err := emit(l); err != nil {
					return err
				}
			}
			kept = nil
			return nil
		}
		return pipeline.Stage[stages.Located, stages.Located]{
			Name: "pairs",
			Run: func(_ context.Context, l stages.Located, emit pipeline.Emit[stages.Located]) error {
				if kept = append(kept, l); len(kept) == 1 {
					return nil
				}
				return letGo(emit)
			},
			Flush: func(_ context.Context, emit pipeline.Emit[stages.Located]) error {
				if !flush {
					return nil
				}
				return letGo(emit)
			},
		}
	}
}

// The program waits for the held item, so no other one will come.
func TestAStageLetsGoOfWhatTheProgramWaitsFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := upWith(newKit(t), func(e *sluice.Engine) { e.Located.Insert(pairs(true)) })
		require.NoError(t, out.err)
		require.Subset(t, recordedNames(out), []string{"a", "b"})
	})
}

// In the bubble of synctest a run that waits for ever is a failure.
func TestAStageThatKeepsWhatTheProgramWaitsForFailsTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := upWith(newKit(t), func(e *sluice.Engine) { e.Located.Insert(pairs(false)) })
		out.requireFailure(`stage "pairs" in the slot Located: its Flush has not emitted urn:pulumi:dev::p::pulumi:providers:test::default, which it keeps`)
	})
}

func TestAStageThatEmitsTooLateEndsNothing(t *testing.T) {
	var wg sync.WaitGroup
	out := upWith(newKit(t), func(e *sluice.Engine) {
		e.Located.Insert(stageOf(func(_ context.Context, l stages.Located, emit pipeline.Emit[stages.Located]) error {
			wg.Go(func() { time.Sleep(time.Millisecond); _ = emit(l) })
			return nil
		}))
	})
	out.requireFailure("it has not emitted")
	wg.Wait()
}

func TestStagesThatCannotBeUsedAreRefusedBeforeAnythingIsDone(t *testing.T) {
	type stage = pipeline.Stage[stages.Checked, stages.Checked]
	pass := func(_ context.Context, c stages.Checked, emit pipeline.Emit[stages.Checked]) error { return emit(c) }
	for name, c := range map[string]struct {
		newStage func(stages.Operation) stage
		text     string
	}{
		"without Run":                   {func(stages.Operation) stage { return stage{Name: "mine"} }, "stage 2 in the slot Checked: it cannot be used: pipeline: mine needs a Run function"},
		"without a name":                {func(stages.Operation) stage { return stage{Run: pass} }, "stage 2 in the slot Checked: it cannot be used: pipeline: step needs a name"},
		"with impossible workers":       {func(stages.Operation) stage { return stage{Name: "mine", Run: pass, Workers: -2} }, "-2 workers"},
		"without a constructor":         {nil, "the constructor of stage 2 in the slot Checked is nil"},
		"with a constructor that fails": {func(stages.Operation) stage { panic("boom") }, "stage 2 in the slot Checked: its constructor: panic: boom"},
	} {
		t.Run(name, func(t *testing.T) {
			k := newKit(t)
			e := sluice.Standard(withProgram(k, one(nil)))
			e.Checked.Insert(func(stages.Operation) stage { return stage{Name: "first", Run: pass} })
			e.Checked.Insert(c.newStage)
			_, err := e.Update(t.Context())
			require.ErrorContains(t, err, c.text)
			require.Nil(t, k.state.Snapshot(), "nothing was recorded")
		})
	}
}

func withProgram(k *kit, f func(*script)) sluice.Options {
	o := k.options
	o.Program = program(f)
	return o
}

func TestNilOptionsAreRefusedBeforeAnythingIsDone(t *testing.T) {
	for text, change := range map[string]func(*sluice.Options){
		"Options.Providers is a nil providers.HostFunc": func(o *sluice.Options) { o.Providers = providers.HostFunc(nil) },
		"Options.Program is a nil source.Func":          func(o *sluice.Options) { o.Program = source.Func(nil) },
		"Options.State is a nil *sluice.MemoryState":    func(o *sluice.Options) { o.State = (*sluice.MemoryState)(nil) },
	} {
		o := withProgram(newKit(t), one(nil))
		change(&o)
		_, err := sluice.Update(t.Context(), o)
		require.ErrorContains(t, err, text)
	}
}

func TestAHostThatPanicsOrReturnsNothingIsAnError(t *testing.T) {
	for text, host := range map[string]providers.HostFunc{
		`panicked when it loaded package "test": boom`: func(context.Context, providers.Spec) (providers.Provider, error) { panic("boom") },
		"neither a provider nor an error":              func(context.Context, providers.Spec) (providers.Provider, error) { return nil, nil },
	} {
		for _, op := range []operation{sluice.Update, sluice.Refresh} {
			k := newKit(t)
			k.up(program(one(nil)))
			k.options.Providers = host
			out := k.try(op, program(one(in{"x": 1})))
			out.requireFailure(text)
			require.Contains(t, k.names(), "a")
		}
	}
}

// observedState counts the closed recordings.
type observedState struct {
	*sluice.MemoryState
	closed int
}

func (s *observedState) Record(ctx context.Context, base *state.Snapshot) (state.Recorder, error) {
	r, err := s.MemoryState.Record(ctx, base)
	return &observedRecorder{r, s}, err
}

type observedRecorder struct {
	state.Recorder
	of *observedState
}

func (r *observedRecorder) Close(ctx context.Context) error {
	r.of.closed++
	return r.Recorder.Close(ctx)
}

func TestAnObserverThatPanicsStopsTheRunAndNothingIsLost(t *testing.T) {
	for _, at := range []stages.Event{stages.Prelude{}, stages.StepStarted{}, stages.StepDone{}, stages.Summary{}, stages.Ended{}} {
		k := newKit(t)
		s := &observedState{MemoryState: k.state}
		o := withProgram(k, one(nil))
		o.State = s
		o.Observe = func(e stages.Event) {
			if reflect.TypeOf(e) == reflect.TypeOf(at) {
				panic("boom")
			}
		}
		_, err := sluice.Update(t.Context(), o)
		require.ErrorContains(t, err, "the observer of events: panic: boom", "%T", at)
		require.Equal(t, 1, s.closed)
		k.requireTruth()
	}
}

func TestACanceledOperationKeepsItsCause(t *testing.T) {
	why := errors.New("the office closes")
	for name, c := range map[string]struct {
		ctx  func(context.Context) (context.Context, func())
		want []error
	}{
		"canceled": {func(ctx context.Context) (context.Context, func()) {
			return context.WithCancel(ctx)
		}, []error{context.Canceled}},
		"with a cause": {func(ctx context.Context) (context.Context, func()) {
			ctx, cancel := context.WithCancelCause(ctx)
			return ctx, func() { cancel(why) }
		}, []error{context.Canceled, why}},
		"at a deadline": {func(ctx context.Context) (context.Context, func()) {
			ctx, cancel := context.WithTimeout(ctx, time.Millisecond)
			return ctx, func() { <-ctx.Done(); cancel() }
		}, []error{context.DeadlineExceeded}},
		"at a deadline with a cause": {func(ctx context.Context) (context.Context, func()) {
			ctx, cancel := context.WithTimeoutCause(ctx, time.Millisecond, why)
			return ctx, func() { <-ctx.Done(); cancel() }
		}, []error{context.DeadlineExceeded, why}},
	} {
		for _, before := range []bool{true, false} {
			t.Run(name, func(t *testing.T) {
				ctx, end := c.ctx(t.Context())
				o := withProgram(newKit(t), func(s *script) {
					s.thing("a", nil)
					end()
					s.err = s.ctx.Err()
					s.thing("b", nil)
				})
				if before {
					end()
				}
				_, err := sluice.Update(ctx, o)
				end()
				for _, want := range c.want {
					require.ErrorIs(t, err, want)
				}
				var failed *sluice.FailedError
				require.ErrorAs(t, err, &failed)
				require.True(t, failed.Canceled)
			})
		}
	}
}
