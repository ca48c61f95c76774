package rules

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/providertest"
	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

// hooked has a program's hooks. They record their arguments and return the configured results.
type hooked struct {
	log    []string
	inputs map[string]stages.HookInput
	errs   map[string]error
	ignore bool
	dryRun bool
}

func (h *hooked) register(s *script, names ...string) {
	for _, name := range names {
		if s.err != nil {
			return
		}
		s.err = s.m.RegisterHook(s.ctx, stages.Hook{Name: name, IgnoreErrors: h.ignore, OnDryRun: h.dryRun, Run: func(_ context.Context, in stages.HookInput) error {
			h.log = append(h.log, name+" "+in.Name)
			if h.inputs == nil {
				h.inputs = map[string]stages.HookInput{}
			}
			h.inputs[name] = in
			return h.errs[name]
		}})
	}
}

var allHooks = []option{
	hooks("BeforeCreate", "bc1", "bc2"), hooks("AfterCreate", "ac"), hooks("BeforeUpdate", "bu"), hooks("AfterUpdate", "au"),
	hooks("BeforeDelete", "bd"), hooks("AfterDelete", "ad"),
}

func (h *hooked) program(inputs in, with ...option) func(s *script) {
	return func(s *script) {
		h.register(s, "bc1", "bc2", "ac", "bu", "au", "bd", "ad")
		s.thing("a", inputs, append(with, allHooks...)...)
	}
}

func TestHooksRunAroundTheirOperations(t *testing.T) {
	k, h := newKit(t), &hooked{}
	k.up(program(h.program(in{"x": 1})))
	require.Equal(t, []string{"bc1 a", "bc2 a", "ac a"}, h.log)
	before, after := h.inputs["bc1"], h.inputs["ac"]
	require.Equal(t, 1.0, before.NewInputs.At("x").AsNumber())
	require.Nil(t, before.NewOutputs)
	require.Nil(t, before.OldInputs)
	require.Empty(t, before.ID)
	require.Equal(t, idOf("a", 1), after.ID)
	require.Equal(t, "arn:"+idOf("a", 1), after.NewOutputs.At("arn").AsString())
	require.Equal(t, []string{"bc1", "bc2"}, after.NewOptions.Hooks["BeforeCreate"])

	h.log = nil
	k.up(program(h.program(in{"x": 1})))
	require.Empty(t, h.log, "same")

	k.up(program(h.program(in{"x": 2})))
	require.Equal(t, []string{"bu a", "au a"}, h.log)
	in1 := h.inputs["au"]
	require.Equal(t, []float64{1, 2, 1, 2}, []float64{
		in1.OldInputs.At("x").AsNumber(), in1.NewInputs.At("x").AsNumber(), in1.OldOutputs.At("x").AsNumber(), in1.NewOutputs.At("x").AsNumber(),
	})

	h.log = nil
	k.up(program(h.program(in{"immutable": 1})))
	require.Equal(t, []string{"bc1 a", "bc2 a", "ac a", "bd a", "ad a"}, h.log)

	// The hooks of removed resources run while the program still serves calls.
	h.log = nil
	r := k.up(program(func(s *script) {
		h.register(s, "bd", "ad")
		if s.err == nil {
			s.err = s.m.WaitForShutdown(s.ctx)
		}
		h.log = append(h.log, "program ends")
	}))
	require.Equal(t, []string{"delete a"}, r.changed())
	require.Equal(t, []string{"bd a", "ad a", "program ends"}, h.log)
	require.Nil(t, h.inputs["ad"].NewInputs)
	require.Equal(t, idOf("a", 2), h.inputs["ad"].ID)
}

func TestHooksAreToldTheAliasThatMatched(t *testing.T) {
	k, h := newKit(t), &hooked{}
	k.up(program(func(s *script) { s.thing("before", in{"x": 1}) }))
	k.up(program(h.program(in{"x": 2}, alias(urn.Alias{Name: "no one"}, urn.Alias{Name: "before"}))))
	require.Equal(t, []string{"bu a", "au a"}, h.log)
	for _, name := range h.log {
		options := h.inputs[name[:2]].NewOptions
		require.Equal(t, []urn.Alias{{URN: urnOf("before")}}, options.Aliases, name)
	}
}

func TestHooksRunInAPreviewOnlyIfTheySaySo(t *testing.T) {
	k, h := newKit(t), &hooked{}
	k.preview(program(h.program(nil)))
	require.Empty(t, h.log)
	h.dryRun = true
	k.preview(program(h.program(nil)))
	require.Equal(t, []string{"bc1 a", "bc2 a", "ac a"}, h.log)
}

func TestErrorOfABeforeHookPreventsTheOperation(t *testing.T) {
	k := newKit(t)
	h := &hooked{errs: map[string]error{"bc1": errRefused}}
	r := k.fails(program(h.program(nil)), `before hook "bc1" failed: refused`)
	require.Empty(t, r.changed())
	require.Empty(t, k.names())
	require.Empty(t, k.state.Snapshot().Pending)
	require.Equal(t, []string{"bc1 a"}, h.log)
}

func TestErrorOfAnAfterHookFailsTheRunAndNotTheStep(t *testing.T) {
	for _, goOn := range []bool{false, true} {
		t.Run(fmt.Sprint("continue on error: ", goOn), func(t *testing.T) {
			k := newKit(t)
			k.options.ContinueOnError = goOn
			h := &hooked{errs: map[string]error{"ac": errRefused}}
			var reply, next *stages.RegisterReply
			r := k.fails(program(func(s *script) {
				h.register(s, "ac")
				reply = s.thing("a", nil, hooks("AfterCreate", "ac"))
				next = s.thing("b", nil)
			}), `after hook "ac" failed: refused`)
			require.Equal(t, idOf("a", 1), k.recorded("a").ID)
			r.requireDiagnostic(stages.Error, 0, `after hook "ac" failed: refused`)
			if goOn {
				require.Equal(t, stages.Success, reply.Result)
				require.Equal(t, idOf("b", 1), next.ID)
			} else {
				require.NotContains(t, r.changed(), "create b")
			}
		})
	}
}

func TestNothingFollowsAStepWhoseHookHasFailed(t *testing.T) {
	for _, goOn := range []bool{false, true} {
		t.Run(fmt.Sprint(goOn), func(t *testing.T) {
			k, h := newKit(t), &hooked{}
			k.up(program(h.program(in{"immutable": 1})))
			k.options.ContinueOnError = goOn
			h.errs = map[string]error{"ac": errRefused}
			r := k.fails(program(h.program(in{"immutable": 2})), `after hook "ac" failed`)
			if goOn {
				require.Equal(t, 1, r.summary().Changes[stages.OpReplace])
				return
			}
			require.Zero(t, r.summary().Changes[stages.OpReplace])
			require.Equal(t, []string{"create a"}, r.changed())
		})
	}
}

func TestHooksGetOutputsAsTheProviderHasReturnedThem(t *testing.T) {
	k, h := newKit(t), &hooked{}
	r := k.up(program(h.program(in{"x": 1}, secretOutputs("x", "arn"))))
	got := h.inputs["ac"].NewOutputs
	require.Equal(t, 1.0, got.At("x").AsNumber())
	require.False(t, got.At("arn").IsSecret())
	require.True(t, k.recorded("a").Outputs.At("arn").IsSecret(), r.summary())
}

func TestIgnoredHookErrorIsAWarning(t *testing.T) {
	k := newKit(t)
	h := &hooked{ignore: true, errs: map[string]error{"bc1": errRefused, "ac": errRefused}}
	r := k.up(program(h.program(nil)))
	r.requireDiagnostic(stages.Warning, 0, `hook "bc1" failed: refused`)
	r.requireDiagnostic(stages.Warning, 0, `hook "ac" failed: refused`)
	require.Equal(t, []string{"bc1 a", "bc2 a", "ac a"}, h.log)
}

func TestHookNames(t *testing.T) {
	k := newKit(t)
	var twice, empty, across, without error
	r := k.fails(program(func(s *script) {
		hook := stages.Hook{Name: "h", Run: func(context.Context, stages.HookInput) error { return nil }}
		s.err = s.m.RegisterHook(s.ctx, hook)
		twice = s.m.RegisterHook(s.ctx, hook)
		across = s.m.RegisterErrorHook(s.ctx, stages.ErrorHook{Name: "h", Run: func(context.Context, stages.HookInput) (bool, error) { return false, nil }})
		empty = s.m.RegisterHook(s.ctx, stages.Hook{Run: hook.Run})
		without = errors.Join(s.m.RegisterHook(s.ctx, stages.Hook{Name: "i"}), s.m.RegisterErrorHook(s.ctx, stages.ErrorHook{Name: "j"}))
		s.thing("a", nil, hooks("BeforeCreate", "nobody"))
	}), `hook "nobody" was not registered`)
	require.Empty(t, r.changed())
	require.ErrorContains(t, twice, `resource hook already registered for name "h"`)
	require.ErrorContains(t, across, `resource hook already registered for name "h"`)
	require.ErrorContains(t, empty, "resource hook name cannot be empty")
	require.EqualError(t, without, "the hook \"i\" has no function\nthe error hook \"j\" has no function")
}

func TestAHookOfATypeThatThereIsNotIsRefused(t *testing.T) {
	k := newKit(t)
	r := k.fails(program(one(nil, hooks("before_create", "h"))), `hooks: there is no type "before_create"; the types are BeforeCreate, AfterCreate, `)
	require.Empty(t, r.changed())
}

func TestHooksOfAComponentRunWhenItsOutputsAreRegistered(t *testing.T) {
	k, h := newKit(t), &hooked{}
	p := program(func(s *script) {
		h.register(s, "bc1", "bc2", "ac", "bu", "au", "bd", "ad")
		g := s.group("g", allHooks...)
		h.log = append(h.log, "registered")
		s.outputs(g, in{"x": 1})
	})
	k.up(p)
	require.Equal(t, []string{"bc1 g", "bc2 g", "registered", "ac g"}, h.log)
	require.Equal(t, 1.0, h.inputs["ac"].NewOutputs.At("x").AsNumber())
}

func TestDeleteHooksRunEvenIfTheProviderIsNotCalled(t *testing.T) {
	k, h := newKit(t), &hooked{}
	k.up(program(h.program(nil, retain(true))))
	h.log = nil
	r := k.try(sluice.Update, program(func(s *script) { h.register(s, "bd", "ad") }))
	require.NoError(t, r.err)
	require.Empty(t, r.changed())
	require.Equal(t, []string{"bd a", "ad a"}, h.log)
}

func TestErrorHooksDecideAboutAnotherTry(t *testing.T) {
	try := func(t *testing.T, failures int, answers ...func() (bool, error)) (*kit, *ran, []stages.HookInput) {
		var fails []providertest.Failure
		for i := range failures {
			fails = append(fails, providertest.Failure{Method: providers.MethodCreate, Name: "a", Nth: i + 1})
		}
		k := newKit(t, fails...)
		var inputs []stages.HookInput
		r := k.try(sluice.Update, program(func(s *script) {
			var names []string
			for i, answer := range answers {
				names = append(names, fmt.Sprint("e", i))
				if s.err == nil {
					s.err = s.m.RegisterErrorHook(s.ctx, stages.ErrorHook{Name: names[i], Run: func(_ context.Context, in stages.HookInput) (bool, error) {
						inputs = append(inputs, in)
						return answer()
					}})
				}
			}
			s.thing("a", nil, hooks("OnError", names...))
		}))
		return k, r, inputs
	}
	yes := func() (bool, error) { return true, nil }
	no := func() (bool, error) { return false, nil }
	broken := func() (bool, error) { return false, errRefused }

	t.Run("a no after a yes changes nothing", func(t *testing.T) {
		k, r, inputs := try(t, 1, yes, no)
		require.NoError(t, r.err)
		require.Equal(t, []string{"a"}, k.names())
		require.Len(t, inputs, 2)
	})
	t.Run("any yes retries", func(t *testing.T) {
		k, r, inputs := try(t, 2, no, yes)
		require.NoError(t, r.err)
		require.Equal(t, []string{"a"}, k.names())
		require.Len(t, inputs, 4)
		require.Equal(t, "create", inputs[0].FailedOperation)
		require.Len(t, inputs[0].Errors, 1)
		require.Len(t, inputs[2].Errors, 2)
		r.requireDiagnostic(stages.Warning, 0, "retrying create due to on-error hook request (1/100)")
		r.requireDiagnostic(stages.Warning, 0, "retrying create due to on-error hook request (2/100)")
		require.Equal(t, []string{"create a", "create a", "create a"}, r.changed())
	})
	t.Run("all no stops", func(t *testing.T) {
		_, r, inputs := try(t, 1, no, no)
		r.requireFailure("refused to create a")
		require.Len(t, inputs, 2)
	})
	t.Run("a hundred failures are enough", func(t *testing.T) {
		_, r, inputs := try(t, 200, yes)
		r.requireFailure("refused to create a")
		require.Len(t, inputs, 99)
		require.Len(t, r.changed(), 100)
		r.requireDiagnostic(stages.Warning, 0, "maximum number of error hook retries (100) reached")
	})
	t.Run("an error of the hook is the step's", func(t *testing.T) {
		_, r, _ := try(t, 1, broken)
		r.requireFailure(`error hooks execution failed: error hook "e0" failed: refused`)
	})
	t.Run("without hooks nothing is tried again", func(t *testing.T) {
		_, r, _ := try(t, 1)
		r.requireFailure("refused to create a")
		require.Len(t, r.changed(), 1)
	})
}

// The object exists: another create would make a second one. The next update heals it.
func TestACreateThatHasMadeAnObjectIsNotTriedAgain(t *testing.T) {
	k := newKit(t)
	declare := func(unhealthy bool) source.Func {
		return program(func(s *script) {
			s.err = s.m.RegisterErrorHook(s.ctx, stages.ErrorHook{Name: "again", Run: func(context.Context, stages.HookInput) (bool, error) { return true, nil }})
			inputs := in{}
			if unhealthy {
				inputs["unhealthy"] = true
			}
			s.thing("a", inputs, hooks("OnError", "again"))
		})
	}
	r := k.fails(declare(true), "a is unhealthy")
	require.Equal(t, []string{"create a"}, r.changed())
	require.Equal(t, idOf("a", 1), k.recorded("a").ID)
	require.Equal(t, []string{"a is unhealthy"}, k.recorded("a").InitErrors)
	r = k.up(declare(false))
	require.Equal(t, []string{"update a"}, r.changed())
	require.Empty(t, k.recorded("a").InitErrors)
}

func TestNothingIsTriedAgainAfterAnInterrupt(t *testing.T) {
	k := newKit(t, providertest.Failure{Method: providers.MethodCreate, Name: "a"})
	k.options.Interrupts = &sluice.Interrupts{}
	asked := 0
	r := k.try(sluice.Update, program(func(s *script) {
		s.err = s.m.RegisterErrorHook(s.ctx, stages.ErrorHook{Name: "e", Run: func(context.Context, stages.HookInput) (bool, error) {
			if asked++; asked == 3 {
				k.options.Interrupts.Stop()
			}
			return true, nil
		}})
		s.thing("a", nil, hooks("OnError", "e"))
	}))
	r.requireFailure("refused to create a")
	require.Len(t, r.changed(), 3)
	require.Empty(t, k.state.Snapshot().Pending)
}

func TestWaitForShutdownHasOneCaller(t *testing.T) {
	k := newKit(t)
	var second error
	k.up(func(ctx context.Context, m stages.Monitor) error {
		if _, err := m.Register(ctx, registration("test:index:Thing", "a", nil)); err != nil {
			return err
		}
		if err := m.WaitForShutdown(ctx); err != nil {
			return err
		}
		second = m.WaitForShutdown(ctx)
		return nil
	})
	require.ErrorContains(t, second, "Already waiting for shutdown")
}

func TestErrorOfAProgramAfterTheShutdownStillFailsTheRun(t *testing.T) {
	k := newKit(t)
	k.up(program(func(s *script) { s.thing("a", nil); s.thing("gone", nil) }))
	r := k.try(sluice.Update, func(ctx context.Context, m stages.Monitor) error {
		if _, err := m.Register(ctx, registration("test:index:Thing", "a", nil)); err != nil {
			return err
		}
		if err := m.WaitForShutdown(ctx); err != nil {
			return err
		}
		return errRefused
	})
	r.requireFailure("refused")
	require.Equal(t, []string{"delete gone"}, r.changed())
	require.Equal(t, []string{"a"}, k.names())
}
