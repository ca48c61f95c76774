package pipeline

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/pipeline/await"
)

func TestAsArrivedKeepsTheOrderUnderAnyLatency(t *testing.T) {
	for _, workers := range []int{1, 2, 7, 64, Unbounded} {
		for seed := range uint64(5) {
			t.Run(fmt.Sprintf("workers %d seed %d", workers, seed), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var want []string
					for i := range 200 {
						for k := range i % 4 {
							want = append(want, fmt.Sprint(i, "/", k))
						}
					}
					f := Via(numbers(200, 1), Stage[int, string]{Name: "fan", Workers: workers, Buffer: 3, Order: AsArrived,
						Run: func(_ context.Context, v int, emit Emit[string]) error {
							for k := range v % 4 {
								nap(seed, v*4+k, time.Second)
								if err := emit(fmt.Sprint(v, "/", k)); err != nil {
									return err
								}
							}
							return nil
						}})
					got, err := collect(t.Context(), f)
					require.NoError(t, err)
					require.Equal(t, want, got)
				})
			})
		}
	}
}

func TestAsReadyLetsTheQuickPassTheSlow(t *testing.T) {
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

func TestSlowFirstInputStopsTheIntakeOfAnOrderedStage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := await.NewEvent()
		var begun atomic.Int64
		f := Via(numbers(1000, 0), Stage[int, int]{Name: "check", Workers: 4, Buffer: 6, Order: AsArrived,
			Run: func(ctx context.Context, v int, emit Emit[int]) error {
				begun.Add(1)
				if v == 0 {
					if err := release.Wait(ctx); err != nil {
						return err
					}
				}
				return emit(v)
			}})
		ended := await.NewPromise[[]int]()
		go func() {
			got, err := collect(t.Context(), f)
			require.NoError(t, err)
			ended.Resolve(got)
		}()
		synctest.Wait()
		require.EqualValues(t, 10, begun.Load(), "workers and buffer")
		release.Fire()
		got, err := ended.Wait(t.Context())
		require.NoError(t, err)
		require.Equal(t, upTo(1000), got)
	})
}

// The value of the first unfinished input must not wait for its function to return: the function may wait for what the
// next stage does with it.
func TestFirstInputsResultsLeaveBeforeItIsDone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := Via(numbers(8, 0), Stage[int, *await.Promise[int]]{Name: "ask", Workers: 4, Order: AsArrived,
			Run: func(ctx context.Context, v int, emit Emit[*await.Promise[int]]) error {
				for range 3 {
					p := await.NewPromise[int]()
					if err := emit(p); err != nil {
						return err
					}
					if _, err := p.Wait(ctx); err != nil {
						return err
					}
				}
				return nil
			}})
		answered := 0
		require.NoError(t, Run(t.Context(), f, func(_ context.Context, p *await.Promise[int]) error {
			answered++
			p.Resolve(answered)
			return nil
		}))
		require.Equal(t, 24, answered)
	})
}

func TestFirstInputFeelsThePaceOfTheNextStage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var emitted atomic.Int64
		f := Via(numbers(1, 0), Stage[int, int]{Name: "flood", Workers: 2, Order: AsArrived,
			Run: func(_ context.Context, _ int, emit Emit[int]) error {
				time.Sleep(time.Second) // until it is this input's turn
				for i := range 1000 {
					if err := emit(i); err != nil {
						return err
					}
					emitted.Add(1)
				}
				return nil
			}})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		err := Run(ctx, f, func(ctx context.Context, _ int) error { <-ctx.Done(); return ctx.Err() })
		require.Equal(t, context.DeadlineExceeded, err)
		require.LessOrEqual(t, emitted.Load(), int64(2))
	})
}

// A later input that holds what the first one needs must be able to finish.
func TestOrderedStageWithASharedLimitNeverHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := Limit(Stage[int, int]{Name: "limited", Workers: 8, Order: AsArrived,
			Run: func(_ context.Context, v int, emit Emit[int]) error {
				for range 5 {
					if err := emit(v); err != nil {
						return err
					}
				}
				return nil
			}}, func(int) string { return "" }, func(string) int { return 1 })
		got, err := collect(t.Context(), Via(numbers(300, 0), s))
		require.NoError(t, err)
		require.Len(t, got, 1500)
		require.IsIncreasing(t, []int{got[0], got[5], got[500], got[1499]})
	})
}
