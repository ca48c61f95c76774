package run_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/mock"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"github.com/sluice-iac/sluice/fleet/run"
)

// limit is a limit whose clients are the test.
type limit struct {
	*testsuite.TestWorkflowEnvironment
	granted []string
	gone    map[string]bool // workflows that cannot be reached
	ended   []string        // workflows that have ended
}

func newLimit(t *testing.T) *limit {
	t.Helper()
	var suite testsuite.WorkflowTestSuite
	l := &limit{TestWorkflowEnvironment: suite.NewTestWorkflowEnvironment(), gone: map[string]bool{}}
	l.SetTestTimeout(20 * time.Second)
	l.RegisterWorkflowWithOptions(run.Limit, workflow.RegisterOptions{Name: run.LimitWorkflow})
	l.OnSignalExternalWorkflow(mock.Anything, mock.Anything, mock.Anything, run.GrantSignal, mock.Anything).Return(
		func(_, id, _, _ string, _ any) error {
			if l.gone[id] {
				return errors.New("there is no such workflow")
			}
			l.granted = append(l.granted, id)
			return nil
		})
	l.RegisterActivityWithOptions(func(_ context.Context, claims []run.Claim) ([]run.Claim, error) {
		var out []run.Claim
		for _, c := range claims {
			for _, id := range l.ended {
				if c.Workflow == id {
					out = append(out, c)
				}
			}
		}
		return out, nil
	}, activity.RegisterOptions{Name: run.EndedActivity})
	return l
}

// at sends a signal after a time.
func (l *limit) at(after time.Duration, signal, id string, most int) {
	l.RegisterDelayedCallback(func() { l.SignalWorkflow(signal, run.Claim{Limit: "limit", Most: most, Workflow: id, Run: "1"}) }, after)
}

func TestALimitGivesPlacesInTurnAndEndsWhenNobodyWantsOne(t *testing.T) {
	l := newLimit(t)
	for i, id := range []string{"a", "b", "c", "a"} { // a repeats its request
		l.at(time.Duration(i)*time.Millisecond, run.AskSignal, id, 1)
	}
	l.RegisterDelayedCallback(func() { require.Equal(t, []string{"a"}, l.granted) }, time.Second)
	l.at(2*time.Second, run.ReleaseSignal, "a", 1)
	l.at(3*time.Second, run.ReleaseSignal, "a", 1) // one release is enough
	l.RegisterDelayedCallback(func() { require.Equal(t, []string{"a", "b"}, l.granted) }, 4*time.Second)
	l.at(5*time.Second, run.ReleaseSignal, "c", 1) // it was cancelled during its wait
	l.at(6*time.Second, run.ReleaseSignal, "b", 1)
	l.ExecuteWorkflow(run.LimitWorkflow, run.Claims{})
	require.NoError(t, l.GetWorkflowError())
	require.Equal(t, []string{"a", "b"}, l.granted)
}

func TestTheNumberThatWasAskedWithLastCounts(t *testing.T) {
	l := newLimit(t)
	l.at(0, run.AskSignal, "a", 1)
	l.at(time.Second, run.AskSignal, "b", 1)
	l.RegisterDelayedCallback(func() { require.Equal(t, []string{"a"}, l.granted) }, 2*time.Second)
	l.at(3*time.Second, run.AskSignal, "c", 3)
	l.RegisterDelayedCallback(func() { require.Equal(t, []string{"a", "b", "c"}, l.granted) }, 4*time.Second)
	for i, id := range []string{"a", "b", "c"} {
		l.at(5*time.Second+time.Duration(i), run.ReleaseSignal, id, 3)
	}
	l.ExecuteWorkflow(run.LimitWorkflow, run.Claims{})
	require.NoError(t, l.GetWorkflowError())
}

func TestThePlaceOfAnEndedStackComesBack(t *testing.T) {
	l := newLimit(t)
	l.gone["never"] = true
	l.ended = []string{"a"}
	l.at(0, run.AskSignal, "a", 1)
	l.at(time.Second, run.AskSignal, "never", 1) // it ends before its turn
	l.at(2*time.Second, run.AskSignal, "b", 1)
	l.at(10*time.Minute, run.ReleaseSignal, "b", 1)
	l.ExecuteWorkflow(run.LimitWorkflow, run.Claims{})
	require.NoError(t, l.GetWorkflowError())
	require.Equal(t, []string{"a", "b"}, l.granted)
}
