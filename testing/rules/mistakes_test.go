package rules

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/sourcegraph/conc"
	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/pipeline"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/providertest"
	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/stages"
)

func TestARequestThatIsNilIsAnError(t *testing.T) {
	for name, request := range map[string]func(context.Context, stages.Monitor) error{
		"Register": func(ctx context.Context, m stages.Monitor) error { _, err := m.Register(ctx, nil); return err },
		"Read":     func(ctx context.Context, m stages.Monitor) error { _, err := m.Read(ctx, nil); return err },
		"Exists":   func(ctx context.Context, m stages.Monitor) error { _, err := m.Exists(ctx, nil); return err },
		"Invoke":   func(ctx context.Context, m stages.Monitor) error { _, err := m.Invoke(ctx, nil); return err },
		"Call":     func(ctx context.Context, m stages.Monitor) error { _, err := m.Call(ctx, nil); return err },
		"RegisterStackTransform": func(ctx context.Context, m stages.Monitor) error {
			return m.RegisterStackTransform(ctx, nil)
		},
		"RegisterInvokeTransform": func(ctx context.Context, m stages.Monitor) error {
			return m.RegisterInvokeTransform(ctx, nil)
		},
	} {
		newKit(t).fails(func(ctx context.Context, m stages.Monitor) error {
			m.Omit(ctx, nil, nil)
			err := request(ctx, m)
			require.ErrorAs(t, err, new(*stages.InvalidRequestError))
			return err
		}, name+" has got nil")
	}
}

func TestAPanicOfAProgramIsOneLine(t *testing.T) {
	for name, panics := range map[string]func(){
		"of its own": func() { panic("boom\nbang") },
		"of a goroutine": func() {
			var wg conc.WaitGroup
			wg.Go(func() { panic("boom") })
			wg.Wait()
		},
	} {
		t.Run(name, func(t *testing.T) {
			out := newKit(t).fails(func(context.Context, stages.Monitor) error { panics(); return nil }, "the program: panic: boom (mistakes_test.go:")
			for _, d := range out.diagnostics(stages.Error) {
				require.NotContains(t, d.Message, "\n")
			}
			var p *pipeline.PanicError
			require.True(t, errors.As(out.err, &p))
			require.Contains(t, string(p.Stack), "goroutine", "the stack is there for who asks")
			require.Equal(t, 1, strings.Count(out.err.Error(), "boom"))
		})
	}
}

// runtime.Goexit is what testing.T.FailNow calls.
func TestWhatEndsItsGoroutineIsAnError(t *testing.T) {
	for name, test := range map[string]struct {
		spoil   func(f *providertest.Fake)
		perform operation
		program source.Func
		rest    bool // a refresh runs the program, which declares nothing
		text    string
	}{
		"program": {perform: sluice.Update, program: func(context.Context, stages.Monitor) error { runtime.Goexit(); return nil }, text: "runtime.Goexit"},
		"Load": {
			spoil:   func(*providertest.Fake) { runtime.Goexit() },
			perform: sluice.Update, program: program(one(in{"size": 2})), text: "runtime.Goexit",
		},
		"Configure": {
			spoil: func(f *providertest.Fake) {
				f.OnConfigure = func(context.Context, providers.ConfigureRequest) error { runtime.Goexit(); return nil }
			},
			perform: sluice.Update, program: program(one(in{"size": 2})), text: "runtime.Goexit",
		},
		"Read": {
			spoil: func(f *providertest.Fake) {
				f.OnRead = func(context.Context, providers.ReadRequest) (providers.ReadResponse, error) {
					runtime.Goexit()
					panic("not reached")
				}
			},
			perform: sluice.Refresh, text: string(urnOf("a")),
		},
		"Read of what the program does not declare": {
			spoil: func(f *providertest.Fake) {
				f.OnRead = func(context.Context, providers.ReadRequest) (providers.ReadResponse, error) {
					runtime.Goexit()
					panic("not reached")
				}
			},
			perform: sluice.Refresh, program: program(func(*script) {}), rest: true, text: string(urnOf("a")),
		},
		"Read that panics": {
			spoil: func(f *providertest.Fake) {
				f.OnRead = func(context.Context, providers.ReadRequest) (providers.ReadResponse, error) { panic("oops") }
			},
			perform: sluice.Refresh, text: "panic: oops",
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k := newKit(t)
				k.up(program(one(in{"size": 1})))
				before := k.state.Snapshot()
				k.fake = test.spoil
				k.options.RunProgram = test.rest
				r := k.try(test.perform, test.program)
				require.ErrorContains(t, r.err, test.text)
				require.NotContains(t, r.err.Error(), "goroutine ", "the stack is for a bug report")
				require.Equal(t, before.Resources, k.state.Snapshot().Resources)
			})
		})
	}
}

func TestAPreviewListsAnErrorThatTheProgramReturnsOnce(t *testing.T) {
	r := newKit(t).try(sluice.Preview, func(ctx context.Context, m stages.Monitor) error {
		_, err := m.Register(ctx, registration("test:index:Thing", "a", nil, func(r *stages.RegisterRequest) { r.Parent = urnOf("nobody") }))
		return fmt.Errorf("making a: %w", err)
	})
	var failed *sluice.FailedError
	require.ErrorAs(t, r.err, &failed)
	require.Len(t, failed.Err.Errors, 1)
	require.ErrorContains(t, r.err, `could not find parent resource `+string(urnOf("nobody"))+` of test:index:Thing "a"`)
}

// nilPointer is an error whose nil pointer is not nil as an error, which is easily returned by mistake.
type nilPointer struct{ text string }

func (e *nilPointer) Error() string { return e.text }

func TestAnErrorOfTheProgramThatPanicsIsToldAsOne(t *testing.T) {
	for name, mistake := range map[string]error{"Error": (*nilPointer)(nil), "Unwrap": (*sluice.FailedError)(nil)} {
		k := newKit(t)
		r := k.try(sluice.Update, func(context.Context, stages.Monitor) error { return mistake })
		require.ErrorContains(t, r.err, fmt.Sprintf("the program: panic: a method of the returned error, a %T, panicked (is it a nil pointer?)", mistake), name)
	}
}
