package graph

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestRunGivesTheSameResultWithAnyNumberOfWorkers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawModel(t)
		subset, schedule, waits := drawSchedule(t, m)
		fails := drawSet(t, len(m), "fails")
		g := m.build()
		var first string
		for _, workers := range []int{0, 1, 2, 64} {
			r, err := NewReadySet(g, sorted(subset), schedule)
			require.NoError(t, err)
			var mu sync.Mutex
			ended := map[ID]bool{}
			err = r.Run(context.Background(), workers, func(_ context.Context, id ID) error {
				mu.Lock()
				defer mu.Unlock()
				for other := range subset {
					if waits(id, other) && !ended[other] {
						return fmt.Errorf("%d started before %d ended", id, other)
					}
				}
				if fails[id] {
					return fmt.Errorf("%d is to fail", id)
				}
				ended[id] = true
				return nil
			})
			require.True(t, r.Done())
			text := "done"
			if err != nil {
				var e *RunError
				require.ErrorAs(t, err, &e)
				require.Equal(t, r.Failed(), failureIDs(e))
				require.NoError(t, e.Cause)
				require.Empty(t, e.NotStarted)
				text = fmt.Sprint(e.Failures, e.Skipped)
				for _, f := range e.Failures {
					require.EqualError(t, f.Err, fmt.Sprintf("%d is to fail", f.ID))
				}
			}
			if first == "" {
				first = text
			}
			require.Equal(t, first, text, "%d workers", workers)
		}
	})
}

func failureIDs(e *RunError) []ID {
	var out []ID
	for _, f := range e.Failures {
		out = append(out, f.ID)
	}
	return out
}

func TestOneWorkerKeepsBaseOrderOrItsReverse(t *testing.T) {
	// 0 and 1 are free, 2 uses 1, 3 is free.
	m := newModel(4)
	m[2][1] = Dependency
	for name, tc := range map[string]struct {
		direction Direction
		want      []ID
	}{
		"creates": {DependenciesFirst, []ID{0, 1, 2, 3}},
		"deletes": {DependentsFirst, []ID{3, 2, 1, 0}},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := NewReadySet(m.build(), ids(4), Schedule{Direction: tc.direction})
			require.NoError(t, err)
			var got []ID
			require.NoError(t, r.Run(t.Context(), 1, func(_ context.Context, id ID) error {
				got = append(got, id)
				return nil
			}))
			require.Equal(t, tc.want, got)
		})
	}
}

// The slow member of a level must not hold back the chain beside it.
func TestRunHasNoBarrierBetweenLevels(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		// 0 is slow and alone; 1 to 5 are a chain.
		m := newModel(6)
		for id := 2; id < 6; id++ {
			m[id][id-1] = Dependency
		}
		r, err := NewReadySet(m.build(), ids(6), Schedule{})
		require.NoError(t, err)
		begin := time.Now()
		var mu sync.Mutex
		ended := map[ID]time.Duration{}
		require.NoError(t, r.Run(t.Context(), 2, func(_ context.Context, id ID) error {
			time.Sleep(map[bool]time.Duration{true: time.Minute, false: time.Second}[id == 0])
			mu.Lock()
			defer mu.Unlock()
			ended[id] = time.Since(begin)
			return nil
		}))
		require.Equal(t, 5*time.Second, ended[5])
		require.Equal(t, time.Minute, ended[0])
	})
}

func TestRunUsesAllWorkersAndNoMore(t *testing.T) {
	for name, tc := range map[string]struct {
		workers int
		want    time.Duration
	}{
		"one":       {1, 40 * time.Second},
		"four":      {4, 10 * time.Second},
		"unbounded": {0, time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, err := NewReadySet(newModel(40).build(), ids(40), Schedule{})
				require.NoError(t, err)
				begin := time.Now()
				require.NoError(t, r.Run(t.Context(), tc.workers, func(context.Context, ID) error {
					time.Sleep(time.Second)
					return nil
				}))
				require.Equal(t, tc.want, time.Since(begin))
			})
		})
	}
}

func TestCancelledRunWaitsForWhatItStartedAndCanGoOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := star(5)
		r, err := NewReadySet(g, ids(5), Schedule{Direction: DependentsFirst})
		require.NoError(t, err)
		why := errors.New("interrupted")
		ctx, cancel := context.WithCancelCause(t.Context())
		work := func(ctx context.Context, id ID) error {
			if id == 4 {
				cancel(why)
			}
			time.Sleep(time.Second)
			return nil
		}
		err = r.Run(ctx, 2, work)
		var e *RunError
		require.ErrorAs(t, err, &e)
		require.ErrorIs(t, err, why)
		require.Equal(t, []ID{0, 1, 2}, e.NotStarted)
		require.Equal(t, []ID{3, 4}, r.Finished())
		require.Empty(t, e.Failures)
		require.EqualError(t, err, "3 not started: interrupted")

		require.NoError(t, r.Run(t.Context(), 1, work))
		require.Equal(t, ids(5), r.Finished())
	})
}

func TestPanicAndGoexitAreFailuresOfTheirNode(t *testing.T) {
	r, err := NewReadySet(star(4), ids(4), Schedule{Direction: DependentsFirst})
	require.NoError(t, err)
	err = r.Run(t.Context(), 2, func(_ context.Context, id ID) error {
		switch id {
		case 1:
			panic("boom")
		case 2:
			runtime.Goexit()
		}
		return nil
	})
	var e *RunError
	require.ErrorAs(t, err, &e)
	require.Equal(t, []ID{1, 2}, failureIDs(e))
	require.ErrorContains(t, e.Failures[0].Err, "boom")
	require.ErrorIs(t, err, errGoexit)
	require.Equal(t, []ID{0}, e.Skipped)
	require.Equal(t, []ID{3}, r.Finished())
}

func TestFirstFailureCanStopARun(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r, err := NewReadySet(newModel(10).build(), ids(10), Schedule{})
	require.NoError(t, err)
	broken := errors.New("broken")
	err = r.Run(ctx, 1, func(_ context.Context, id ID) error {
		if id == 3 {
			cancel()
			return broken
		}
		return nil
	})
	require.ErrorIs(t, err, broken)
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, []ID{0, 1, 2}, r.Finished())
	require.Equal(t, []ID{4, 5, 6, 7, 8, 9}, r.NotStarted())
	require.EqualError(t, err, "node 3: broken")
}

func TestRunErrorSummaries(t *testing.T) {
	for want, e := range map[string]*RunError{
		"node 1: a (and 1 more)":             {Failures: []Failure{{1, errors.New("a")}, {2, errors.New("b")}}},
		"2 skipped after an earlier failure": {Skipped: []ID{1, 2}},
		"1 not started: context canceled":    {NotStarted: []ID{1}, Cause: context.Canceled},
	} {
		require.EqualError(t, e, want)
	}
}

func TestReadySetCanBeUsedByHandBeforeItIsRun(t *testing.T) {
	r, err := NewReadySet(chain(3), ids(3), Schedule{})
	require.NoError(t, err)
	require.Equal(t, []ID{0}, r.Ready())
	r.Finish(0)
	var got []ID
	require.NoError(t, r.Run(t.Context(), 1, func(_ context.Context, id ID) error {
		got = append(got, id)
		return nil
	}))
	require.Equal(t, []ID{1, 2}, got)
	require.True(t, slices.Equal(ids(3), r.Finished()))
}
