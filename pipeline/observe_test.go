package pipeline

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/pipeline/await"
)

func TestObserverShowsWhereItemsAre(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var o Observer
		require.Empty(t, o.Stats())
		open, release := await.NewEvent(), await.NewEvent()
		f := Via(numbers(20, 2), Stage[int, int]{Name: "check", Workers: 4, Buffer: 1,
			Run: func(ctx context.Context, v int, emit Emit[int]) error {
				if v == 0 {
					return errBad
				}
				return emit(v)
			}})
		f = ViaActor(f, Actor[int, int, int, int]{Name: "plan", Workers: 1, Backlog: 2,
			Receive: func(_ context.Context, v int, x Exchange[int, int]) error { x.Ask(v); return nil },
			Work:    func(ctx context.Context, v int) (int, error) { return v, release.Wait(ctx) },
			Resume:  func(_ context.Context, v int, x Exchange[int, int]) error { return x.Emit(v) },
		})
		ended := await.NewPromise[error]()
		go func() {
			ended.Resolve(Run(t.Context(), f, func(ctx context.Context, _ int) error { return open.Wait(ctx) }, Observe(&o), KeepGoing()))
		}()
		synctest.Wait()
		// The actor takes two; one result waits for it and four workers wait to hand over theirs.
		require.Equal(t, []StageStats{
			{Stage: "numbers", Running: 1},
			{Stage: "check", Waiting: 3, Running: 4, Done: 3, Failed: 1},
			{Stage: "plan", Waiting: 5, Done: 2, Asks: 2},
			{Stage: "sink"},
		}, o.Stats())
		release.Fire()
		synctest.Wait()
		require.Equal(t, 1, o.Stats()[3].Running)
		open.Fire()
		err, _ := ended.Wait(t.Context())
		require.Equal(t, []string{"check: bad"}, lines(t, err))
		require.Equal(t, []StageStats{
			{Stage: "numbers", Done: 1},
			{Stage: "check", Done: 19, Failed: 1},
			{Stage: "plan", Done: 19},
			{Stage: "sink", Done: 19},
		}, o.Stats())
	})
}

func TestObserverCountsWhatTheEndOfTheRunLeftUndone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var o Observer
		f := Via(numbers(100, 5), Stage[int, int]{Name: "fail", Run: func(context.Context, int, Emit[int]) error { return errBad }})
		require.Error(t, Run(t.Context(), f, nil, Observe(&o)))
		s := o.Stats()[1]
		require.Equal(t, 1, s.Failed)
		require.Zero(t, s.Waiting)
		require.Zero(t, s.Running)
		require.Equal(t, s.Dropped, s.Dropped+s.Done)
		require.Positive(t, s.Dropped)
	})
}
