package graph

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestRunGivesTheSameResultAsOneByOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawModel(t)
		subset, schedule, waits := drawSchedule(t, m)
		fails := drawSet(t, len(m), "fails")
		r := newScheduled(t, m.build(), sorted(subset), schedule)
		var mu sync.Mutex
		ended := map[ID]bool{}
		err := r.Run(context.Background(), func(_ context.Context, position ID) error {
			entry := r.list[position]
			if entry.Relay {
				return nil
			}
			mu.Lock()
			defer mu.Unlock()
			for other := range subset {
				if waits(entry.Node, other) && !ended[other] {
					return fmt.Errorf("%d started before %d ended", entry.Node, other)
				}
			}
			if fails[entry.Node] {
				return errors.New("is to fail")
			}
			ended[entry.Node] = true
			return nil
		})
		require.Zero(t, r.Open())
		skipped := expectSkips(subset, fails, waits)
		failed := 0
		for id := range subset {
			if fails[id] && !contains(skipped, id) {
				failed++
			}
		}
		require.Len(t, ended, len(subset)-len(skipped)-failed)
		require.Equal(t, failed > 0, err != nil)
	})
}

func contains(ids []ID, id ID) bool {
	for _, i := range ids {
		if i == id {
			return true
		}
	}
	return false
}

// The slow member of a level must not hold back the chain beside it.
func TestRunHasNoBarrierBetweenLevels(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		// 0 is slow and alone; 1 to 5 are a chain.
		var r ReadySet
		r.Add(0)
		r.Add(1)
		for id := ID(2); id < 6; id++ {
			r.Add(id, id-1)
		}
		begin := time.Now()
		var mu sync.Mutex
		ended := map[ID]time.Duration{}
		require.NoError(t, r.Run(t.Context(), func(_ context.Context, id ID) error {
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

func TestCancelledRunWaitsForWhatItStarted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r ReadySet
		r.Add(0)
		r.Add(1)
		r.Add(2, 0)
		why := errors.New("interrupted")
		ctx, cancel := context.WithCancelCause(t.Context())
		var mu sync.Mutex
		var ended []ID
		err := r.Run(ctx, func(ctx context.Context, id ID) error {
			if id == 0 {
				time.Sleep(time.Millisecond) // all else waits by then, so that 1 has been started
				cancel(why)
			}
			time.Sleep(time.Second)
			mu.Lock()
			defer mu.Unlock()
			ended = append(ended, id)
			return nil
		})
		require.ErrorIs(t, err, why)
		require.ElementsMatch(t, []ID{0, 1}, ended)
	})
}

func TestPanicAndGoexitAreFailuresOfTheirWork(t *testing.T) {
	var r ReadySet
	for id := range ID(4) {
		r.Add(id)
	}
	err := r.Run(t.Context(), func(_ context.Context, id ID) error {
		switch id {
		case 1:
			panic("boom")
		case 2:
			runtime.Goexit()
		}
		return nil
	})
	require.ErrorContains(t, err, "node 1: panic: boom")
	require.ErrorIs(t, err, errGoexit)
}

func TestRunTellsOfWorkThatCanNeverBegin(t *testing.T) {
	for name, waits := range map[string]map[ID][]ID{
		"a circle":                       {1: {2}, 2: {1}},
		"work that was never added":      {3: {99}},
		"work behind such work, as well": {1: {2}, 2: {1}, 4: {1}},
	} {
		var r ReadySet
		r.Add(0)
		for id, after := range waits {
			r.Add(id, after...)
		}
		ran := 0
		err := r.Run(t.Context(), func(context.Context, ID) error { ran++; return nil })
		require.EqualError(t, err, fmt.Sprintf("%d pieces of work have not begun: they wait for each other, or for work that was never added", len(waits)), name)
		require.Equal(t, 1, ran)
	}
}
