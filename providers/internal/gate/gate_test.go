package gate_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluice-iac/sluice/providers/internal/gate"
	"github.com/sourcegraph/conc"
	"github.com/stretchr/testify/require"
)

func TestEveryWaiterGetsTheFirstResult(t *testing.T) {
	boom := errors.New("boom")
	for name, result := range map[string]error{"error": boom, "no error": nil} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := gate.New()
				require.False(t, g.IsOpen())
				var wg conc.WaitGroup
				for range 3 {
					wg.Go(func() { require.Equal(t, result, g.Wait(t.Context())) })
				}
				var seen atomic.Int32
				g.Then(func(err error) {
					if errors.Is(err, result) {
						seen.Add(1)
					}
				})
				synctest.Wait()
				g.Open(result)
				g.Open(errors.New("late"))
				wg.Wait()
				synctest.Wait()
				require.EqualValues(t, 1, seen.Load())
				require.True(t, g.IsOpen())
			})
		})
	}
}

func TestOpenGateWinsOverAnEndedContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	g := gate.New()
	require.ErrorIs(t, g.Wait(ctx), context.Canceled)
	g.Open(nil)
	require.NoError(t, g.Wait(ctx))
}

func TestWaitEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		require.ErrorIs(t, gate.New().Wait(ctx), context.DeadlineExceeded)
	})
}
