package sluice_test

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sourcegraph/conc/panics"
	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/host"
	"github.com/sluice-iac/sluice/providers/providertest"
	"github.com/sluice-iac/sluice/stages"
)

func TestABufferedObserverGetsAllEventsInTheirOrder(t *testing.T) {
	options := sluice.Options{
		Project: "shop", Stack: "dev", Providers: providertest.NewCloud(providertest.Options{}).Host(), Program: host.NewYAMLText("resources: {web: {type: 'simple:index:Thing', properties: {size: 1}}}\n", nil),
	}
	var direct, later []string
	buffered := sluice.NewBufferedObserver(2, func(e stages.Event) { later = append(later, fmt.Sprintf("%T", e)) })
	options.Observe = func(e stages.Event) {
		direct = append(direct, fmt.Sprintf("%T", e))
		buffered.Observe(e)
	}
	_, err := sluice.Update(t.Context(), options)
	require.NoError(t, err)
	require.NoError(t, buffered.Close())
	require.NoError(t, buffered.Close())
	require.Equal(t, direct, later)
	require.Equal(t, "stages.Ended", later[len(later)-1])
	buffered.Observe(stages.Ended{})
	require.Equal(t, direct, later)
}

func TestAFullBufferMakesTheOperationWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var seen atomic.Int32
		b := sluice.NewBufferedObserver(3, func(stages.Event) { time.Sleep(time.Second); seen.Add(1) })
		began := time.Now()
		for range 3 {
			b.Observe(stages.Ended{})
		}
		require.Zero(t, time.Since(began))
		b.Observe(stages.Ended{})
		require.Equal(t, time.Second, time.Since(began), "by the clock of the test")
		require.NoError(t, b.Close())
		require.EqualValues(t, 4, seen.Load())
	})
}

func TestABufferedObserverThatPanicsStopsTheOperation(t *testing.T) {
	b := sluice.NewBufferedObserver(1, func(stages.Event) { panic("boom") })
	_, err := sluice.Update(t.Context(), sluice.Options{
		Project: "shop", Stack: "dev", Providers: providertest.NewCloud(providertest.Options{}).Host(), Program: host.NewYAMLText("resources: {web: {type: 'simple:index:Thing', properties: {size: 1}}}\n", nil), Observe: b.Observe,
	})
	var failed *sluice.FailedError
	require.ErrorAs(t, err, &failed)
	require.ErrorContains(t, failed.Err, "the observer of events: panic: boom\n")
	require.NotContains(t, err.Error(), "goroutine")
	require.EqualError(t, b.Close(), "panic: boom")
}

// An observer that fails a test leaves its goroutine.
func TestABufferedObserverThatDoesNotReturnIsNotWaitedFor(t *testing.T) {
	seen := 0
	b := sluice.NewBufferedObserver(2, func(stages.Event) { seen++; runtime.Goexit() })
	refused := 0
	for range 10 {
		if panics.Try(func() { b.Observe(stages.Ended{}) }) != nil {
			refused++
		}
	}
	require.ErrorContains(t, b.Close(), "the function called runtime.Goexit")
	require.Equal(t, 1, seen)
	require.NotZero(t, refused)
}
