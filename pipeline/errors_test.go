package pipeline

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/pipeline/await"
)

var errBad = errors.New("bad")

// failing passes values on, except those for which bad returns true.
func failing(name string, workers int, seed uint64, bad func(int) bool) Stage[int, int] {
	return Stage[int, int]{Name: name, Workers: workers, Run: func(_ context.Context, v int, emit Emit[int]) error {
		nap(seed, v, time.Second)
		if bad(v) {
			return fmt.Errorf("item %d: %w", v, errBad)
		}
		return emit(v)
	}}
}

func lines(t *testing.T, err error) []string {
	t.Helper()
	var all *RunError
	require.ErrorAs(t, err, &all)
	var out []string
	for _, e := range all.Errors {
		out = append(out, e.Error())
	}
	return out
}

func TestFirstErrorEndsTheRunAndIsReportedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := Via(numbers(1000, 2), failing("a", 4, 1, func(int) bool { return false }))
		f = Via(f, failing("b", 1, 1, func(v int) bool { return v == 7 }))
		f = Via(f, failing("c", 4, 1, func(int) bool { return false }))
		got, err := collect(t.Context(), f)
		require.Equal(t, []string{"b: item 7: bad"}, lines(t, err))
		require.EqualError(t, err, "b: item 7: bad")
		require.ErrorIs(t, err, errBad)
		require.NotErrorIs(t, err, ErrStopped)
		var stage *StageError
		require.ErrorAs(t, err, &stage)
		require.Equal(t, "b", stage.Stage)
		require.Less(t, len(got), 50)
	})
}

type numbered int

func (n numbered) Sequence() int64 { return int64(n) }

// failingLate passes values on at once, except those for which bad returns true: they fail between one and two seconds
// later, whether the run is over or not.
func failingLate[V int | numbered](name string, workers int, seed uint64, bad func(int) bool) Stage[V, numbered] {
	return Stage[V, numbered]{Name: name, Workers: workers, Run: func(_ context.Context, v V, emit Emit[numbered]) error {
		if !bad(int(v)) {
			return emit(numbered(v))
		}
		time.Sleep(time.Second)
		nap(seed, int(v), time.Second)
		return fmt.Errorf("item %d: %w", v, errBad)
	}}
}

func TestErrorListIsTheSameUnderAnyLatency(t *testing.T) {
	var want []string
	for i := range 60 {
		if i%5 == 0 {
			want = append(want, fmt.Sprintf("a: item %d: bad", i))
		}
	}
	for i := range 60 {
		if i%7 == 1 && i%5 != 0 {
			want = append(want, fmt.Sprintf("b: item %d: bad", i))
		}
	}
	want = append(want, "sink: too big")
	for _, workers := range []int{64, Unbounded} { // so many that all failures are under way when the first one happens
		for seed := range uint64(16) {
			t.Run(fmt.Sprintf("workers %d seed %d", workers, seed), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					f := Via(numbers(60, 2), failingLate[int]("a", workers, seed, func(v int) bool { return v%5 == 0 }))
					f = Via(f, failingLate[numbered]("b", workers, seed+100, func(v int) bool { return v%7 == 1 }))
					left := 60 - (len(want) - 1) // the number of values that arrive; the sink does not hold up the others
					err := Run(t.Context(), f, func(_ context.Context, v numbered) error {
						if left--; left > 0 {
							return nil
						}
						time.Sleep(time.Second)
						nap(seed, 59, time.Second)
						return errors.New("too big")
					})
					require.Equal(t, want, lines(t, err))
					require.True(t, strings.HasPrefix(err.Error(), fmt.Sprintf("%d errors:\n  * a: item 0: bad\n", len(want))))
				})
			})
		}
	}
}

func TestErrorsAreListedBySequenceWhateverTheArrival(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := Via(numbers(30, 0), Stage[int, numbered]{Name: "mix", Workers: 30, Run: func(_ context.Context, v int, emit Emit[numbered]) error {
			nap(3, v, time.Hour)
			return emit(numbered(v))
		}})
		f2 := Via(f, Stage[numbered, int]{Name: "fail", Workers: 30, Run: func(_ context.Context, v numbered, _ Emit[int]) error {
			time.Sleep(time.Hour) // until all have arrived
			nap(4, int(v), time.Hour)
			return fmt.Errorf("item %d", v)
		}})
		_, err := collect(t.Context(), f2)
		require.Len(t, lines(t, err), 30)
		for i, line := range lines(t, err) {
			require.Equal(t, fmt.Sprintf("fail: item %d", i), line)
		}
	})
}

func TestSourceErrorIsReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := From("program", 1, func(_ context.Context, emit Emit[int]) error {
			_ = emit(1)
			time.Sleep(time.Second)
			return errBad
		})
		got, err := collect(t.Context(), f)
		require.Equal(t, []string{"program: bad"}, lines(t, err))
		require.Equal(t, []int{1}, got)
	})
}

func TestFlushErrorIsReportedAndTheReasonForAbandon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := failing("a", 3, 1, func(int) bool { return false })
		s.Flush = func(context.Context, Emit[int]) error {
			time.Sleep(time.Second) // until the sink has taken all
			return errors.New("no end")
		}
		var reason error
		s.Abandon = func(err error) { reason = err }
		got, err := collect(t.Context(), Via(numbers(4, 0), s))
		require.ElementsMatch(t, upTo(4), got)
		require.Equal(t, []string{"a: no end"}, lines(t, err))
		require.EqualError(t, reason, "a: no end")
	})
}

type named int

func (n named) String() string { return fmt.Sprintf("resource-%d", int(n)) }

func TestPanicBecomesAnErrorWithItsStack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := Via(numbers(3, 0), Stage[int, named]{Name: "name", Run: func(_ context.Context, v int, emit Emit[named]) error {
			return emit(named(v))
		}})
		f = Via(f, Stage[named, named]{Name: "check", Workers: 2, Run: func(_ context.Context, v named, emit Emit[named]) error {
			if v == 1 {
				explode()
			}
			return emit(v)
		}})
		_, err := collect(t.Context(), f)
		require.EqualError(t, err, "check: panic while working on resource-1: bad")
		require.ErrorIs(t, err, errBad, "a panic with an error wraps it")
		var p *PanicError
		require.ErrorAs(t, err, &p)
		require.Contains(t, string(p.Stack), "explode")
	})
}

func explode() { panic(errBad) }

func TestPanicsOutsideOfItemsAreReportedToo(t *testing.T) {
	pass := func(_ context.Context, v int, emit Emit[int]) error { return emit(v) }
	for name, c := range map[string]struct {
		flow func() Flow[int]
		want string
	}{
		"source": {func() Flow[int] {
			return From("source", 0, func(context.Context, Emit[int]) error { panic("boom") })
		}, "source: panic: boom"},
		"flush": {func() Flow[int] {
			return Via(numbers(1, 0), Stage[int, int]{Name: "s", Run: pass, Flush: func(context.Context, Emit[int]) error { panic("boom") }})
		}, "s: panic: boom"},
		"abandon": {func() Flow[int] {
			return Via(numbers(1, 0), Stage[int, int]{Name: "s", Run: pass,
				Flush:   func(context.Context, Emit[int]) error { return errBad },
				Abandon: func(error) { panic("boom") }})
		}, "2 errors:\n  * s: bad\n  * s: panic: boom"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, err := collect(t.Context(), c.flow())
				require.EqualError(t, err, c.want)
			})
		})
	}
}

// nilError is an error like those of many packages: a nil pointer in an error panics.
type nilError struct{ err error }

func (e *nilError) Error() string { return e.err.Error() }
func (e *nilError) Unwrap() error { return e.err }

func TestErrorWhoseMethodsPanicIsReplaced(t *testing.T) {
	for name, bad := range map[string]error{"alone": (*nilError)(nil), "wrapped": &nilError{err: (*nilError)(nil)}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, err := collect(t.Context(), Via(numbers(4, 0), Stage[int, int]{
					Name: "s", Workers: 4,
					Run:   func(context.Context, int, Emit[int]) error { time.Sleep(time.Second); return bad },
					Flush: func(context.Context, Emit[int]) error { return bad },
				}))
				require.Len(t, lines(t, err), 4)
				require.ErrorContains(t, err, "a method of the returned error, a *pipeline.nilError, panicked (is it a nil pointer?)")
				require.ErrorAs(t, err, new(*PanicError))
			})
		})
	}
}

func TestFunctionThatEndsItsGoroutineFailsItsItem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := Via(numbers(6, 0), Stage[int, int]{Name: "exit", Workers: 6, Run: func(_ context.Context, v int, emit Emit[int]) error {
			if v%2 == 0 {
				time.Sleep(time.Second)
				runtime.Goexit()
			}
			return emit(v)
		}})
		got, err := collect(t.Context(), f)
		require.ElementsMatch(t, []int{1, 3, 5}, got)
		require.Len(t, lines(t, err), 3)
		require.ErrorIs(t, err, errExited)
	})
}

func TestFunctionThatEndsItsGoroutineLeavesSomebodyToRejectTheOthers(t *testing.T) {
	for _, workers := range []int{1, 3} {
		synctest.Test(t, func(t *testing.T) {
			type item = *await.Promise[int]
			var items []item
			for range 6 {
				items = append(items, await.NewPromise[int]())
			}
			f := From("source", 6, func(_ context.Context, emit Emit[item]) error {
				for _, v := range items {
					if err := emit(v); err != nil {
						return err
					}
				}
				return nil
			})
			_, err := collect(t.Context(), Via(f, Stage[item, item]{Name: "exit", Workers: workers, Run: func(context.Context, item, Emit[item]) error {
				time.Sleep(time.Second) // until the others lie in the buffer
				runtime.Goexit()
				return nil
			}}))
			require.Len(t, lines(t, err), workers)
			stopped := 0
			for _, v := range items {
				_, err := v.Wait(t.Context())
				require.ErrorIs(t, err, errExited, "of its own or as the reason of the end")
				if errors.Is(err, ErrStopped) {
					stopped++
				}
			}
			require.Equal(t, 6-workers, stopped)
		})
	}
}

func TestCancellationReturnsItsCauseAndNoStageError(t *testing.T) {
	why := errors.New("the user pressed a key")
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(10*time.Second, func() { cancel(why) })
		f := Via(numbers(1000, 2), Stage[int, int]{Name: "wait", Workers: 3, Run: func(ctx context.Context, v int, emit Emit[int]) error {
			select {
			case <-time.After(time.Second):
				return emit(v)
			case <-ctx.Done():
				return fmt.Errorf("call: %w", ctx.Err())
			}
		}})
		got, err := collect(ctx, f)
		require.Equal(t, why, err)
		var stage *StageError
		require.False(t, errors.As(err, &stage))
		require.InDelta(t, 30, len(got), 3)
	})
}

func TestFailureAndCancellationAreBothReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		f := Via(numbers(3, 0), failingLate[int]("a", 3, 1, func(v int) bool { return v == 1 }))
		_, err := collect(ctx, Via(f, Stage[numbered, int]{Name: "cancel", Run: func(_ context.Context, v numbered, _ Emit[int]) error {
			if v == 2 {
				time.Sleep(time.Hour)
				cancel()
			}
			return nil
		}}))
		require.Equal(t, []string{"a: item 1: bad", "context canceled"}, lines(t, err))
		require.ErrorIs(t, err, context.Canceled)
	})
}

func TestRealFailureAfterTheEndIsReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls atomic.Int64
		f := Via(numbers(2, 0), Stage[int, int]{Name: "create", Workers: 2, Run: func(ctx context.Context, v int, _ Emit[int]) error {
			calls.Add(1)
			time.Sleep(time.Duration(v+1) * time.Second)
			return fmt.Errorf("item %d: %w", v, errBad)
		}})
		_, err := collect(t.Context(), f)
		require.Equal(t, []string{"create: item 0: bad", "create: item 1: bad"}, lines(t, err))
	})
}

func TestTheEndOfAnotherRunIsAFailure(t *testing.T) {
	pass := func(_ context.Context, v int, emit Emit[int]) error { return emit(v) }
	for name, c := range map[string]struct {
		run   func(context.Context, int, Emit[int]) error
		flush func(context.Context, Emit[int]) error
		want  string
	}{
		"run":        {func(context.Context, int, Emit[int]) error { return ErrStopped }, nil, "s: pipeline stopped"},
		"flush":      {pass, func(context.Context, Emit[int]) error { return ErrStopped }, "s: pipeline stopped"},
		"its reason": {func(context.Context, int, Emit[int]) error { return &StoppedError{Cause: errBad} }, nil, "s: pipeline stopped: bad"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, err := collect(t.Context(), Via(numbers(1, 0), Stage[int, int]{Name: "s", Run: c.run, Flush: c.flush}))
				require.EqualError(t, err, c.want)
				require.ErrorAs(t, err, new(*StageError))
			})
		})
	}
}

func TestContextTellsStagesWhyTheRunEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var cause error
		f := From("source", 0, func(ctx context.Context, emit Emit[int]) error {
			_ = emit(1)
			<-ctx.Done()
			cause = context.Cause(ctx)
			return cause
		})
		_, err := collect(t.Context(), Via(f, failing("a", 1, 1, func(int) bool { return true })))
		require.Equal(t, []string{"a: item 1: bad"}, lines(t, err))
		require.EqualError(t, cause, "pipeline stopped: a: item 1: bad")
		require.ErrorIs(t, cause, ErrStopped)
	})
}
