package await_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/pipeline/await"
)

func TestFlightCallsOnceForEachKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var f await.Flight[string, int]
		var calls atomic.Int64
		var wg sync.WaitGroup
		for i := range 20 {
			key := []string{"a", "b"}[i%2]
			wg.Go(func() {
				v, err := f.Do(t.Context(), key, func() (int, error) {
					calls.Add(1)
					time.Sleep(time.Second)
					return len(key), nil
				})
				require.NoError(t, err)
				require.Equal(t, 1, v)
			})
		}
		wg.Wait()
		require.EqualValues(t, 2, calls.Load())
		v, err := f.Do(t.Context(), "a", nil)
		require.NoError(t, err)
		require.Equal(t, 1, v, "the result is kept")
	})
}

func TestFlightGivesAnErrorToThoseWhoWaitAndForgetsIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var f await.Flight[string, int]
		bad, began := errors.New("bad"), time.Now()
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() {
				_, err := f.Do(t.Context(), "k", func() (int, error) { time.Sleep(time.Second); return 0, bad })
				require.Equal(t, bad, err)
			})
		}
		wg.Wait()
		require.Equal(t, time.Second, time.Since(began), "one call for all")
		v, err := f.Do(t.Context(), "k", func() (int, error) { return 7, nil })
		require.NoError(t, err)
		require.Equal(t, 7, v)
	})
}

func TestThoseWhoWaitTryAgainWhenTheCallerHasLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var f await.Flight[string, int]
		leaving, leave := context.WithCancel(t.Context())
		calls := 0
		var wg sync.WaitGroup
		wg.Go(func() {
			_, err := f.Do(leaving, "k", func() (int, error) { calls++; <-leaving.Done(); return 0, leaving.Err() })
			require.ErrorIs(t, err, context.Canceled)
		})
		synctest.Wait()
		for range 3 {
			wg.Go(func() {
				v, err := f.Do(t.Context(), "k", func() (int, error) { calls++; return 7, nil })
				require.NoError(t, err)
				require.Equal(t, 7, v)
			})
		}
		synctest.Wait()
		leave()
		wg.Wait()
		require.Equal(t, 2, calls, "one of them makes the call for all")
	})
}

func TestFlightForgetsAResultOnDemand(t *testing.T) {
	var f await.Flight[string, int]
	n := 0
	call := func() (int, error) { n++; return n, nil }
	for want := 1; want < 4; want++ {
		for range 2 {
			v, err := f.Do(t.Context(), "k", call)
			require.NoError(t, err)
			require.Equal(t, want, v)
		}
		f.Forget("k")
		f.Forget("never asked for")
	}
}

// A call that fails after it was forgotten must not affect the call that has taken its place.
func TestForgottenCallThatFailsLeavesTheNewOneAlone(t *testing.T) {
	var f await.Flight[string, int]
	_, err := f.Do(t.Context(), "k", func() (int, error) {
		f.Forget("k")
		v, err := f.Do(t.Context(), "k", func() (int, error) { return 7, nil })
		require.NoError(t, err)
		require.Equal(t, 7, v)
		return 0, errors.New("bad")
	})
	require.EqualError(t, err, "bad")
	v, err := f.Do(t.Context(), "k", nil)
	require.NoError(t, err)
	require.Equal(t, 7, v)
}

func TestPanicOfAFlightReachesItsCallerAndLeavesNobodyWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var f await.Flight[string, int]
		var wg sync.WaitGroup
		wg.Go(func() {
			require.PanicsWithValue(t, "boom", func() {
				_, _ = f.Do(t.Context(), "k", func() (int, error) { time.Sleep(time.Second); panic("boom") })
			})
		})
		synctest.Wait()
		_, err := f.Do(t.Context(), "k", nil)
		require.Equal(t, await.ErrNoResult, err)
		wg.Wait()
		v, err := f.Do(t.Context(), "k", func() (int, error) { return 7, nil })
		require.NoError(t, err)
		require.Equal(t, 7, v)
	})
}

func TestFirstOneLeavesAFlightThatRunsElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var f await.Flight[string, int]
		var wg sync.WaitGroup
		call := func() (int, error) { time.Sleep(time.Minute); return 7, nil }
		soon, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := f.DoOn(soon, wg.Go, "k", call)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		v, err := f.DoOn(t.Context(), nil, "k", nil)
		require.NoError(t, err)
		require.Equal(t, 7, v, "the others still get the result")
		wg.Wait()
	})
}
