package control_test

import (
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/sourcegraph/conc"
	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/internal/control"
)

// watched returns the control of a run, and the events that the run's observer has got.
func watched(t *testing.T) (*control.Control, *[]stages.Event) {
	t.Helper()
	var events []stages.Event
	c := control.NewControl(t.Context(), stages.RunInfo{}, time.Now, func(e stages.Event) { events = append(events, e) })
	return c, &events
}

func TestHaltEndsDecisionsAndNotOperations(t *testing.T) {
	c, _ := watched(t)
	require.False(t, c.IsHalted())
	c.Halt()
	require.True(t, c.IsHalted())
	require.ErrorIs(t, context.Cause(c.Admitted), stages.ErrShutDown)
	require.NoError(t, c.Operations.Err())
}

func TestNoStepEntersAfterHalt(t *testing.T) {
	c, _ := watched(t)
	require.True(t, c.Enter())
	c.Leave(nil)
	c.Halt()
	require.False(t, c.Enter())
}

func TestProgramsAreAnsweredUntilTheLastRunningStepLeaves(t *testing.T) {
	c, _ := watched(t)
	require.True(t, c.Enter())
	require.True(t, c.Enter())
	c.Halt()
	require.NoError(t, c.Answering.Err())
	require.False(t, c.Enter(), "a refused step must not end the answering of those that run")
	c.Leave(nil)
	require.NoError(t, c.Answering.Err())
	c.Leave(nil)
	require.ErrorIs(t, context.Cause(c.Answering), stages.ErrShutDown)
}

func TestAStepIsOverWhenItsReplyIsGiven(t *testing.T) {
	for range 200 {
		c, _ := watched(t)
		require.True(t, c.Enter())
		var program conc.WaitGroup
		answering := false
		c.Leave(func() {
			program.Go(func() {
				c.Halt()
				answering = c.IsAnswering()
			})
			runtime.Gosched()
		})
		program.Wait()
		require.False(t, answering, "the step counts as running when the program has its reply")
	}
}

func TestHaltWithoutRunningStepsEndsAnswers(t *testing.T) {
	c, _ := watched(t)
	require.True(t, c.Enter())
	c.Leave(nil)
	require.NoError(t, c.Answering.Err(), "an idle run goes on answering")
	c.Halt()
	require.ErrorIs(t, context.Cause(c.Answering), stages.ErrShutDown)
}

func TestShutDownEndsEverythingThatWaits(t *testing.T) {
	c, _ := watched(t)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	require.True(t, c.Enter())
	c.Halt()
	require.ErrorIs(t, c.AwaitEnd(gone), context.Canceled, "a halted run is not over")
	c.ShutDown()
	require.NoError(t, c.AwaitEnd(t.Context()))
	require.ErrorIs(t, context.Cause(c.Answering), stages.ErrShutDown)
	require.True(t, c.IsHalted())
}

func TestEventsOfARunThatNobodyWatchesAreDropped(t *testing.T) {
	c := control.NewControl(t.Context(), stages.RunInfo{}, time.Now, nil)
	require.NotPanics(t, func() { c.Warn("", "nobody hears %s", "this") })
}

func TestWarningsHaveNoCode(t *testing.T) {
	c, events := watched(t)
	c.Warn(aURN, "%d of %d", 1, 2)
	require.Equal(t, []stages.Event{
		stages.Diagnostic{LogMessage: stages.LogMessage{Severity: stages.Warning, Message: "1 of 2", URN: aURN}},
	}, *events)
	require.False(t, c.HasFailed())
}
