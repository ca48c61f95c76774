package rules

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/providertest"
	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/stages"
)

func TestInterruptedUpdateFinishesWhatRunsAndStartsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKitWith(t, slow())
		interrupts := &sluice.Interrupts{}
		k.options.Interrupts = interrupts
		time.AfterFunc(5*time.Second, interrupts.Stop)
		var next error
		r := k.try(sluice.Update, program(func(s *script) {
			s.thing("a", nil)
			_, next = s.m.Register(s.ctx, registration("test:index:Thing", "b", nil))
			s.err = next
		}))
		requireCanceled(t, r)
		require.ErrorIs(t, next, stages.ErrShutDown)
		require.Equal(t, []string{"create a"}, r.changed())
		require.Equal(t, []string{"a"}, k.names())
		k.requireTruth()
		require.Zero(t, countOf(r, providertest.MethodCancel))
	})
}

func TestAPausedUpdateBeginsNothingUntilItIsResumed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKitWith(t, slow())
		interrupts := &sluice.Interrupts{}
		k.options.Interrupts = interrupts
		began := time.Now()
		time.AfterFunc(5*time.Second, interrupts.Pause)
		time.AfterFunc(time.Hour, func() {
			require.Equal(t, 1, k.cloud.Count(providers.MethodCreate))
			require.True(t, interrupts.Paused())
			interrupts.Resume()
		})
		r := k.try(sluice.Update, program(func(s *script) { s.thing("b", nil, dependsOn(s.thing("a", nil))) }))
		require.NoError(t, r.err)
		require.Equal(t, []string{"create a", "create b"}, r.changed())
		require.Greater(t, time.Since(began), time.Hour)
		require.False(t, interrupts.Paused())
	})
}

func TestStopEndsAPausedUpdate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKitWith(t, slow())
		interrupts := &sluice.Interrupts{}
		k.options.Interrupts = interrupts
		interrupts.Pause()
		time.AfterFunc(time.Minute, interrupts.Stop)
		r := k.try(sluice.Update, program(one(nil)))
		requireCanceled(t, r)
		require.Empty(t, r.changed())
	})
}

func TestInterruptedDestroyKeepsWhatIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKitWith(t, slow())
		k.up(program(func(s *script) { s.thing("c", nil, dependsOn(s.thing("b", nil, dependsOn(s.thing("a", nil))))) }))
		interrupts := &sluice.Interrupts{}
		k.options.Interrupts = interrupts
		time.AfterFunc(15*time.Second, interrupts.Stop)
		r := k.try(sluice.Destroy, nil)
		requireCanceled(t, r)
		require.Equal(t, []string{"delete c", "delete b"}, r.changed())
		require.Equal(t, []string{"a"}, k.names())
		k.requireTruth()
	})
}

func TestInterruptInTheMiddleOfAChainLeavesItsRestForTheNextRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKitWith(t, slow())
		k.up(program(one(in{"dbr": 1})))
		interrupts := &sluice.Interrupts{}
		k.options.Interrupts = interrupts
		time.AfterFunc(5*time.Second, interrupts.Stop)
		r := k.try(sluice.Update, program(one(in{"dbr": 2})))
		requireCanceled(t, r)
		require.Equal(t, []string{"delete a"}, r.changed())
		require.True(t, k.recorded("a").PendingReplacement)
		k.options.Interrupts = nil
		require.Equal(t, []string{"create a"}, k.up(program(one(in{"dbr": 2}))).changed())
	})
}

func TestInterruptBeforeTheStartDoesNothing(t *testing.T) {
	k := newKit(t)
	k.options.Interrupts = &sluice.Interrupts{}
	k.options.Interrupts.Stop()
	r := k.try(sluice.Update, program(one(nil)))
	requireCanceled(t, r)
	require.Empty(t, r.changed())
}

func TestCancelReachesTheProviders(t *testing.T) {
	for name, cancel := range map[string]func(k *kit) (run func() *ran){
		"by Interrupts.Cancel": func(k *kit) func() *ran {
			k.options.Interrupts = &sluice.Interrupts{}
			time.AfterFunc(5*time.Second, k.options.Interrupts.Cancel)
			return func() *ran { return k.try(sluice.Update, program(one(nil))) }
		},
		"by the end of the caller's context": func(k *kit) func() *ran {
			return func() *ran {
				return k.try(func(ctx context.Context, o sluice.Options) (*sluice.Result, error) {
					ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
					defer cancel()
					return sluice.Update(ctx, o)
				}, program(one(nil)))
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k := newKit(t, providertest.Failure{Method: providers.MethodCreate, Name: "a", Hang: true, Err: errors.New("aborted")})
				r := cancel(k)()
				require.Equal(t, 1, countOf(r, providertest.MethodCancel))
				requireCanceled(t, r)
				require.ErrorContains(t, r.err, "aborted")
				require.Empty(t, k.names())
				r.requireDiagnostic(stages.Error, 2000, "aborted")
			})
		})
	}
}

// process is a program that goes on after its run, as a process may.
type process struct{ source.Program }

func (p process) Run(ctx context.Context, host source.Host) error {
	host.Over = nil
	return p.Program.Run(ctx, host)
}

// After an interrupt, a program that does not react to the end of its run gets three seconds to end by itself, and none after a second
// interrupt.
func TestCancelEndsTheProgram(t *testing.T) {
	for name, c := range map[string]struct {
		interrupt func(*sluice.Interrupts)
		took      time.Duration
	}{
		"Stop":   {(*sluice.Interrupts).Stop, 8 * time.Second},
		"Cancel": {(*sluice.Interrupts).Cancel, 5 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k := newKit(t)
				k.options.Interrupts = &sluice.Interrupts{}
				time.AfterFunc(5*time.Second, func() { c.interrupt(k.options.Interrupts) })
				began := time.Now()
				r := k.try(func(ctx context.Context, o sluice.Options) (*sluice.Result, error) {
					o.Program = process{o.Program}
					return sluice.Update(ctx, o)
				}, func(ctx context.Context, _ stages.Monitor) error {
					<-ctx.Done()
					return ctx.Err()
				})
				requireCanceled(t, r)
				require.Equal(t, c.took, time.Since(began), "by the clock of the test")
			})
		})
	}
}

func TestFailureBeforeACancelTakesPrecedenceOverIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKit(t, failCreate("a", errRefused),
			providertest.Failure{Method: providers.MethodCreate, Name: "b", Hang: true, Err: errors.New("aborted")})
		k.options.Interrupts = &sluice.Interrupts{}
		time.AfterFunc(5*time.Second, k.options.Interrupts.Cancel)
		k.fails(func(ctx context.Context, m stages.Monitor) error {
			return together(2, func(i int) error {
				if i == 0 {
					time.Sleep(time.Second) // b has begun
				}
				_, err := m.Register(ctx, registration("test:index:Thing", []string{"a", "b"}[i], nil))
				return err
			})
		}, "refused")
	})
}

func TestEndOfTheCallersContextFinishesWhatRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKitWith(t, slow())
		r := k.try(func(ctx context.Context, o sluice.Options) (*sluice.Result, error) {
			ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
			defer cancel()
			return sluice.Update(ctx, o)
		}, program(func(s *script) { s.thing("a", nil); s.thing("b", nil) }))
		requireCanceled(t, r)
		require.Equal(t, []string{"create a"}, r.changed())
		require.Equal(t, []string{"a"}, k.names())
		k.requireTruth()
	})
}

func TestFailureTakesPrecedenceOverAnInterrupt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKitWith(t, slow(failCreate("a", errRefused)))
		k.options.Interrupts = &sluice.Interrupts{}
		time.AfterFunc(5*time.Second, k.options.Interrupts.Stop)
		k.fails(program(one(nil)), "refused")
	})
}

func TestFailureLetsRunningOperationsFinish(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		latency := map[string]time.Duration{"bad": time.Second, "worse": 2 * time.Second, "good": 3 * time.Second}
		k := newKitWith(t, providertest.Options{
			Failures: []providertest.Failure{failCreate("bad", errors.New("bad news")), failCreate("worse", errors.New("worse news"))},
			Latency: func(c providertest.Call) time.Duration {
				if c.Method == providers.MethodCreate {
					return latency[c.URN.Name()]
				}
				return 0
			},
		})
		r := k.fails(func(ctx context.Context, m stages.Monitor) error {
			return together(4, func(i int) error {
				name := []string{"bad", "worse", "good", "late"}[i]
				if name == "late" {
					time.Sleep(1500 * time.Millisecond)
				}
				_, err := m.Register(ctx, registration("test:index:Thing", name, nil))
				return err
			})
		}, "bad news")
		require.ErrorContains(t, r.err, "worse news")
		require.Equal(t, []string{"good"}, k.names())
		k.requireTruth()
		require.NotContains(t, r.changed(), "create late")
		require.Len(t, r.diagnostics(stages.Error), 3)
	})
}

func TestParallelLimitsChangingOperations(t *testing.T) {
	for _, limit := range []int{1, 3} {
		synctest.Test(t, func(t *testing.T) {
			k := newKitWith(t, slow())
			k.options.Parallel = limit
			p := func(ctx context.Context, m stages.Monitor) error {
				return together(12, func(i int) error {
					_, err := m.Register(ctx, registration("test:index:Thing", string(rune('a'+i)), nil))
					return err
				})
			}
			k.up(p)
			require.Equal(t, limit, k.cloud.Peak(providers.MethodCreate))
			k.destroy()
			require.Equal(t, limit, k.cloud.Peak(providers.MethodDelete))
		})
	}
}

func TestChecksAndDiffsRunAtTheSameTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKitWith(t, providertest.Options{Latency: func(c providertest.Call) time.Duration {
			if c.Method == providers.MethodCheck || c.Method == providers.MethodDiff {
				return time.Second
			}
			return 0
		}})
		k.options.Parallel = 1
		p := func(ctx context.Context, m stages.Monitor) error {
			return together(50, func(i int) error {
				_, err := m.Register(ctx, registration("test:index:Thing", string(rune('A'+i)), nil))
				return err
			})
		}
		k.up(p)
		k.up(p)
		require.Equal(t, 50, k.cloud.Peak(providers.MethodCheck))
		require.Equal(t, 50, k.cloud.Peak(providers.MethodDiff))
	})
}
