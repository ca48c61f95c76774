package pipeline

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/pipeline/await"
)

// numbers is a source of 0 to n-1.
func numbers(n, buffer int) Flow[int] {
	return From("numbers", buffer, func(_ context.Context, emit Emit[int]) error {
		for i := range n {
			if err := emit(i); err != nil {
				return err
			}
		}
		return nil
	})
}

// collect runs f and returns the items that reached the sink.
func collect[T any](ctx context.Context, f Flow[T]) ([]T, error) {
	var got []T
	err := Run(ctx, f, func(_ context.Context, v T) error {
		got = append(got, v)
		return nil
	})
	return got, err
}

// fixed is a source of the given values.
func fixed[T any](values ...T) Flow[T] {
	return From("source", 0, func(_ context.Context, emit Emit[T]) error {
		for _, v := range values {
			if err := emit(v); err != nil {
				return err
			}
		}
		return nil
	})
}

// napping passes values on after a sleep of up to longest, drawn from seed and the value: the same whatever the schedule.
func napping(seed uint64, longest time.Duration) func(context.Context, int, Emit[int]) error {
	return func(_ context.Context, v int, emit Emit[int]) error {
		nap(seed, v, longest)
		return emit(v)
	}
}

func nap(seed uint64, v int, longest time.Duration) {
	r := rand.New(rand.NewPCG(seed, uint64(v)))
	time.Sleep(time.Duration(r.Int64N(int64(longest))))
}

func upTo(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

func TestValuesPassThroughStagesOfDifferentTypes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := Via(numbers(3, 0), Stage[int, string]{Name: "print", Run: func(_ context.Context, v int, emit Emit[string]) error {
			return emit(fmt.Sprint("no. ", v))
		}})
		got, err := collect(t.Context(), f)
		require.NoError(t, err)
		require.Equal(t, []string{"no. 0", "no. 1", "no. 2"}, got)
	})
}

func TestStageMayEmitNothingOrMuch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := Via(numbers(4, 0), Stage[int, int]{Name: "repeat", Run: func(_ context.Context, v int, emit Emit[int]) error {
			for range v {
				if err := emit(v); err != nil {
					return err
				}
			}
			return nil
		}})
		got, err := collect(t.Context(), f)
		require.NoError(t, err)
		require.Equal(t, []int{1, 2, 2, 3, 3, 3}, got)
	})
}

func TestWhatWaitsForRoomKeepsAnUnboundedStageFromTakingMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 10_000
		var begun atomic.Int64
		f := Via(numbers(n, 0), Stage[int, int]{Name: "answer", Workers: Unbounded, Run: func(_ context.Context, v int, emit Emit[int]) error {
			begun.Add(1)
			return emit(v)
		}})
		seen, hold := 0, await.NewEvent()
		go func() {
			synctest.Wait()
			require.Less(t, begun.Load(), int64(5))
			hold.Fire()
		}()
		require.NoError(t, Run(t.Context(), f, func(ctx context.Context, _ int) error {
			seen++
			return hold.Wait(ctx)
		}))
		require.Equal(t, n, seen)
	})
}

func TestWorkOfAnUnboundedStageMayWaitForWorkThatComesLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 10_000
		done := make([]*await.Event, n+1)
		for i := range done {
			done[i] = await.NewEvent()
		}
		f := Via(numbers(n, 0), Stage[int, int]{Name: "chain", Workers: Unbounded, Run: func(ctx context.Context, v int, emit Emit[int]) error {
			if v%3 == 0 { // others hand over at once, and wait for room meanwhile
				if v+3 < n {
					if err := done[v+3].Wait(ctx); err != nil {
						return err
					}
				}
				done[v].Fire()
			}
			return emit(v)
		}})
		got, err := collect(t.Context(), f)
		require.NoError(t, err)
		require.Len(t, got, n)
	})
}

func TestWorkersThatWaitForOtherItemsLeaveTheirPlace(t *testing.T) {
	type working func(ctx context.Context, v int) error
	for name, flow := range map[string]func(n, workers int, work working) Flow[int]{
		"stage": func(n, workers int, work working) Flow[int] {
			return Via(numbers(n, 0), Stage[int, int]{Name: "stage", Workers: workers,
				Run: func(ctx context.Context, v int, emit Emit[int]) error { return errors.Join(work(ctx, v), emit(v)) },
			})
		},
		"actor": func(n, workers int, work working) Flow[int] {
			return ViaActor(numbers(n, 0), asker(workers, func(ctx context.Context, v int) (int, error) { return v, work(ctx, v) }))
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const n, workers = 1000, 4
				last := await.NewEvent()
				var busy, most atomic.Int64
				_, err := collect(t.Context(), flow(2*n, workers, func(ctx context.Context, v int) error {
					if v < n {
						return WaitForOthers(ctx, func() error { return last.Wait(ctx) })
					}
					if v == n {
						last.Fire()
						time.Sleep(time.Second) // those that have waited end
					}
					most.Store(max(most.Load(), busy.Add(1)))
					defer busy.Add(-1)
					time.Sleep(time.Second)
					return nil
				}))
				require.NoError(t, err)
				require.EqualValues(t, workers, most.Load(), "then there are as many workers as before")
			})
		})
	}
}

func TestASingleWriterThatWaitsStaysAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var busy atomic.Int64
		_, err := collect(t.Context(), Via(numbers(10, 0), Stage[int, int]{Name: "writer", Run: func(ctx context.Context, v int, emit Emit[int]) error {
			require.EqualValues(t, 1, busy.Add(1))
			defer busy.Add(-1)
			return WaitForOthers(ctx, func() error { time.Sleep(time.Second); return emit(v) })
		}}))
		require.NoError(t, err)
	})
}

func TestFlushRunsAfterTheLastInputAndBeforeTheNextStageEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var sum atomic.Int64
		f := Via(numbers(5, 0), Stage[int, int]{
			Name: "sum", Workers: 3,
			Run: func(_ context.Context, v int, emit Emit[int]) error {
				time.Sleep(time.Duration(v) * time.Second)
				sum.Add(int64(v))
				return nil
			},
			Flush:   func(_ context.Context, emit Emit[int]) error { return emit(int(sum.Load())) },
			Abandon: func(error) { t.Error("abandoned in a run that went well") },
		})
		got, err := collect(t.Context(), f)
		require.NoError(t, err)
		require.Equal(t, []int{10}, got)
	})
}

func TestQuickResultsPassTheSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := Via(numbers(3, 0), Stage[int, int]{Name: "reverse", Workers: 3, Run: func(_ context.Context, v int, emit Emit[int]) error {
			time.Sleep(time.Duration(3-v) * time.Second)
			return emit(v)
		}})
		got, err := collect(t.Context(), f)
		require.NoError(t, err)
		require.Equal(t, []int{2, 1, 0}, got)
	})
}

func TestSingleWorkerIsNeverEnteredTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inside := 0 // unlocked on purpose: the race detector checks the promise too
		f := Via(numbers(50, 0), Stage[int, int]{Name: "spread", Workers: 10, Run: napping(1, time.Second)})
		f = Via(f, Stage[int, int]{Name: "one", Run: func(_ context.Context, v int, emit Emit[int]) error {
			inside++
			require.Equal(t, 1, inside)
			time.Sleep(time.Millisecond)
			inside--
			return emit(v)
		}})
		got, err := collect(t.Context(), f)
		require.NoError(t, err)
		require.ElementsMatch(t, upTo(50), got)
	})
}

func TestWorkersWorkAtTheSameTimeUpToTheirNumber(t *testing.T) {
	for name, c := range map[string]struct {
		workers int
		took    time.Duration
	}{
		"one":       {0, 100 * time.Second},
		"ten":       {10, 10 * time.Second},
		"unbounded": {Unbounded, time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				f := Via(numbers(100, 0), Stage[int, int]{Name: "sleep", Workers: c.workers,
					Run: func(_ context.Context, v int, emit Emit[int]) error {
						time.Sleep(time.Second)
						return emit(v)
					}})
				got, err := collect(t.Context(), f)
				require.NoError(t, err)
				require.Len(t, got, 100)
				require.Equal(t, c.took, time.Since(began)) // the bubble's clock: exact
			})
		})
	}
}

func TestStuckSinkStopsTheSourceSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		emitted := 0
		f := From("numbers", 2, func(_ context.Context, emit Emit[int]) error {
			for i := range 1000 {
				if err := emit(i); err != nil {
					return err
				}
				emitted++
			}
			return nil
		})
		f = Via(f, Stage[int, int]{Name: "pass", Workers: 3, Buffer: 2,
			Run: func(_ context.Context, v int, emit Emit[int]) error { return emit(v) }})
		ended := await.NewPromise[error]()
		go func() {
			ended.Resolve(Run(ctx, f, func(ctx context.Context, _ int) error { <-ctx.Done(); return ctx.Err() }))
		}()
		synctest.Wait()
		// 2 wait for the stage, 3 are worked on, 2 wait for the sink, 1 is in it.
		require.Equal(t, 8, emitted)
		cancel()
		err, _ := ended.Wait(t.Context())
		require.Equal(t, context.Canceled, err)
	})
}

func TestNilSinkForgetsValues(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := await.NewPromise[int]()
		require.NoError(t, Run(t.Context(), fixed(v), nil))
		require.False(t, v.Decided(), "a value that was taken is not rejected")
	})
}

func TestWorkersAreStartedOnlyWhenNeeded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var next, most, now atomic.Int64
		c := &workers[int64]{size: 4000,
			next: func() (int64, bool) { v := next.Add(1); time.Sleep(time.Second); return v, v <= 100 },
			work: func(context.Context, int64) { most.Store(max(most.Load(), now.Add(1))); now.Add(-1) },
		}
		c.start()
		c.wg.Wait()
		require.LessOrEqual(t, c.started.Load(), int64(102))
	})
}

func TestMisdescribedStepsPanicAtOnce(t *testing.T) {
	pass := func(_ context.Context, v int, emit Emit[int]) error { return emit(v) }
	for name, build := range map[string]func(){
		"no name":          func() { Via(numbers(1, 0), Stage[int, int]{Run: pass}) },
		"no function":      func() { Via(numbers(1, 0), Stage[int, int]{Name: "s"}) },
		"negative buffer":  func() { Via(numbers(1, 0), Stage[int, int]{Name: "s", Run: pass, Buffer: -1}) },
		"negative workers": func() { Via(numbers(1, 0), Stage[int, int]{Name: "s", Run: pass, Workers: -2}) },
		"no source":        func() { Via(Flow[int]{}, Stage[int, int]{Name: "s", Run: pass}) },
		"no generator":     func() { From[int]("s", 0, nil) },
		"nothing to run":   func() { _ = Run(context.Background(), Flow[int]{}, nil) },
		"actor lacks":      func() { ViaActor(numbers(1, 0), Actor[int, int, int, int]{Name: "a"}) },
	} {
		t.Run(name, func(t *testing.T) { require.Panics(t, build) })
	}
}

// A component holds its own request while its children go through the same flow. The leaf calls have two slots.
func TestNestedWorkOutsideTheLimitedStageNeverHangs(t *testing.T) {
	type request struct {
		depth int
		done  *await.Promise[int]
	}
	synctest.Test(t, func(t *testing.T) {
		inbox := await.NewMailbox[request]()
		register := func(depth int) *await.Promise[int] {
			r := request{depth, await.NewPromise[int]()}
			inbox.Put(r)
			return r.done
		}
		f := From("monitor", 0, func(ctx context.Context, emit Emit[request]) error {
			for {
				r, ok := inbox.Take(ctx)
				if !ok {
					return nil
				}
				if err := emit(r); err != nil {
					return err
				}
			}
		})
		f = Via(f, Stage[request, request]{Name: "construct", Workers: Unbounded,
			Run: func(ctx context.Context, r request, emit Emit[request]) error {
				if r.depth == 0 {
					return emit(r)
				}
				total := 1
				children := []*await.Promise[int]{register(r.depth - 1), register(r.depth - 1), register(r.depth - 1)}
				for _, c := range children {
					n, err := c.Wait(ctx)
					if err != nil {
						return err
					}
					total += n
				}
				r.done.Resolve(total)
				return nil
			}})
		leaf := Via(f, Stage[request, request]{Name: "create", Workers: 2,
			Run: func(_ context.Context, r request, emit Emit[request]) error {
				time.Sleep(time.Second)
				r.done.Resolve(1)
				return emit(r)
			}})
		roots := []*await.Promise[int]{register(3), register(3), register(3)}
		go func() {
			for _, p := range roots {
				_, _ = p.Wait(t.Context())
			}
			inbox.Close()
		}()
		leaves, err := collect(t.Context(), leaf)
		require.NoError(t, err)
		require.Len(t, leaves, 3*27)
		for _, p := range roots {
			n, err := p.Wait(t.Context())
			require.NoError(t, err)
			require.Equal(t, 40, n)
		}
	})
}

func TestRunLeavesNothingBehindWhenTheContextIsAlreadyDone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		why := errors.New("not today")
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(why)
		f := From("source", 0, func(context.Context, Emit[int]) error {
			t.Error("the source ran")
			return nil
		})
		require.Equal(t, why, Run(ctx, f, nil))
	})
}

// keeper keeps its inputs until Idle, and then emits the sum.
func keeper(workers int) (Stage[int, int], *atomic.Int64) {
	var running, sum, calls atomic.Int64
	return Stage[int, int]{
		Name: "keeper", Workers: workers,
		Run: func(_ context.Context, v int, _ Emit[int]) error {
			running.Add(1)
			defer running.Add(-1)
			nap(1, v, time.Second)
			sum.Add(int64(v))
			return nil
		},
		Idle: func(_ context.Context, emit Emit[int]) error {
			calls.Add(1)
			if n := running.Load(); n > 0 {
				return fmt.Errorf("%d are running", n)
			}
			return emit(int(sum.Swap(0)))
		},
	}, &calls
}

// The source waits for each answer before it sends more, as a program does.
func TestIdleIsCalledWhenNoInputWaits(t *testing.T) {
	for _, workers := range []int{1, 3, Unbounded} {
		synctest.Test(t, func(t *testing.T) {
			answered := make(chan int, 1)
			f := From("source", 0, func(_ context.Context, emit Emit[int]) error {
				for v := range 20 {
					if err := emit(v + 1); err != nil {
						return err
					}
					if got := <-answered; got != v+1 {
						return fmt.Errorf("%d came instead of %d", got, v+1)
					}
				}
				return nil
			})
			st, calls := keeper(workers)
			require.NoError(t, Run(t.Context(), Via(f, st), func(_ context.Context, v int) error {
				answered <- v
				return nil
			}))
			require.EqualValues(t, 20, calls.Load())
		})
	}
}

func TestNothingIsKeptAfterTheLastIdle(t *testing.T) {
	for _, workers := range []int{1, 3, Unbounded} {
		synctest.Test(t, func(t *testing.T) {
			st, calls := keeper(workers)
			got, err := collect(t.Context(), Via(numbers(100, 10), st))
			require.NoError(t, err)
			total := 0
			for _, v := range got {
				total += v
			}
			require.Equal(t, 99*100/2, total)
			require.Less(t, calls.Load(), int64(100), "waiting input comes first")
		})
	}
}

// TestInputWaitsForIdle has an input that comes while Idle waits for something.
func TestInputWaitsForIdle(t *testing.T) {
	for _, workers := range []int{1, 3, Unbounded} {
		synctest.Test(t, func(t *testing.T) {
			f := From("source", 0, func(ctx context.Context, emit Emit[int]) error {
				for v := range 3 {
					if err := emit(v); err != nil {
						return err
					}
					if err := await.For(ctx, time.Second); err != nil {
						return err
					}
				}
				return nil
			})
			idle := false
			got, err := collect(t.Context(), Via(f, Stage[int, int]{
				Name: "idles", Workers: workers,
				Run: func(_ context.Context, v int, emit Emit[int]) error {
					require.False(t, idle)
					return emit(v)
				},
				Idle: func(ctx context.Context, _ Emit[int]) error {
					idle = true
					defer func() { idle = false }()
					return await.For(ctx, 1500*time.Millisecond)
				},
			}))
			require.NoError(t, err)
			require.ElementsMatch(t, upTo(3), got)
		})
	}
}

func TestTheErrorOfIdleEndsTheRun(t *testing.T) {
	for _, idle := range []func(context.Context, Emit[int]) error{
		func(context.Context, Emit[int]) error { return errBad },
		func(context.Context, Emit[int]) error { panic(errBad) },
		func(context.Context, Emit[int]) error { runtime.Goexit(); return nil },
	} {
		st, _ := keeper(1)
		st.Idle = idle
		_, err := collect(t.Context(), Via(fixed(1), st))
		var stage *StageError
		require.ErrorAs(t, err, &stage)
		require.Equal(t, "keeper", stage.Stage)
	}
}
