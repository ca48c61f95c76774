package control_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sourcegraph/conc"
	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/advice"
	"github.com/sluice-iac/sluice/pipeline"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/internal/control"
	"github.com/sluice-iac/sluice/urn"
)

const (
	aURN urn.URN = "urn:pulumi:dev::p::x:index:T::a"
	bURN urn.URN = "urn:pulumi:dev::p::x:index:T::b"
)

var errBroken = errors.New("it broke")

// shown returns the diagnostics among events.
func shown(events []stages.Event) []stages.Diagnostic {
	var out []stages.Diagnostic
	for _, e := range events {
		if d, ok := e.(stages.Diagnostic); ok {
			out = append(out, d)
		}
	}
	return out
}

func TestFailShowsAndRecordsAndDoesNotStop(t *testing.T) {
	c, events := watched(t)
	c.Fail(3, aURN, stages.CodeFailed, errBroken)
	require.Equal(t, []stages.Failure{{Seq: 3, URN: aURN, Err: errBroken}}, c.Failures())
	require.Equal(t, []stages.Diagnostic{{
		LogMessage: stages.LogMessage{Severity: stages.Error, Message: "it broke", URN: aURN}, Code: stages.CodeFailed,
	}}, shown(*events))
	require.True(t, c.HasFailed())
	require.False(t, c.IsHalted())
}

func TestAFailureThatHasBeenShownIsNotShownAgain(t *testing.T) {
	c, events := watched(t)
	c.Fail(0, aURN, stages.CodeShown, errBroken)
	require.Empty(t, *events)
	require.Len(t, c.Failures(), 1)
}

func TestFailuresAreShownWithTheirAdvice(t *testing.T) {
	what := advice.On(advice.ListResources)
	c, events := watched(t)
	c.Fail(0, aURN, stages.CodeFailed, fmt.Errorf("find: %w", advice.With(errBroken, what)))
	require.Equal(t, []advice.Advice{what}, shown(*events)[0].Advice)
}

func TestBailRecordsTheFailureAndHalts(t *testing.T) {
	c, events := watched(t)
	err := c.Bail(stages.Located{Seq: 2, URN: aURN}, stages.CodeFailed, errBroken)
	require.True(t, stages.IsReported(err))
	require.ErrorIs(t, err, errBroken)
	require.True(t, c.IsHalted())
	require.Equal(t, []stages.Failure{{Seq: 2, URN: aURN, Err: errBroken}}, c.Failures())
	require.Len(t, shown(*events), 1)
}

func TestBailAfterAHaltRecordsAFailureOfItsOwn(t *testing.T) {
	c, _ := watched(t)
	c.Halt()
	_ = c.Bail(stages.Located{URN: aURN}, stages.CodeFailed, errBroken)
	require.Len(t, c.Failures(), 1)
}

func TestACancellationAfterAHaltIsNoFailureOfItsOwn(t *testing.T) {
	for _, cancelled := range []error{context.Canceled, stages.ErrShutDown, fmt.Errorf("check a: %w", context.Canceled)} {
		c, events := watched(t)
		c.Halt()
		err := c.Bail(stages.Located{URN: aURN}, stages.CodeFailed, cancelled)
		require.True(t, stages.IsReported(err), "%v", cancelled)
		require.False(t, c.HasFailed(), "%v", cancelled)
		require.Empty(t, *events, "%v", cancelled)
	}
}

func TestACancellationThatNoHaltExplainsIsAFailure(t *testing.T) {
	c, _ := watched(t)
	_ = c.Bail(stages.Located{URN: aURN}, stages.CodeFailed, context.Canceled)
	require.Len(t, c.Failures(), 1)
	require.True(t, c.IsHalted())
}

// An error that was shown must be a failure, or a run that has shown one could succeed.
func TestACancellationThatHasBeenShownIsAFailureAlsoAfterAHalt(t *testing.T) {
	c, _ := watched(t)
	c.Halt()
	_ = c.Bail(stages.Located{URN: aURN}, stages.CodeShown, context.Canceled)
	require.Len(t, c.Failures(), 1)
}

func TestACancellationIsRecognisedByTypeAndNotByText(t *testing.T) {
	c, _ := watched(t)
	c.Halt()
	_ = c.Bail(stages.Located{URN: aURN}, stages.CodeFailed, errors.New(context.Canceled.Error()))
	require.Len(t, c.Failures(), 1)
}

func TestFailuresAreSortedByURNWhateverTheOrderOfArrival(t *testing.T) {
	sorted := []stages.Failure{
		{Seq: 9, Err: errors.New("of the run")},
		{Seq: 1, URN: aURN, Err: errors.New("first")},
		{Seq: 1, URN: aURN, Err: errors.New("second")}, // copies of one resource differ in their texts alone
		{Seq: 4, URN: aURN, Err: errors.New("a later registration")},
		{Seq: 0, URN: bURN, Err: errors.New("b")},
	}
	for _, order := range permutations(len(sorted)) {
		c, _ := watched(t)
		for _, i := range order {
			c.Fail(sorted[i].Seq, sorted[i].URN, stages.CodeShown, sorted[i].Err)
		}
		require.Equal(t, sorted, c.Failures(), "in the order %v", order)
	}
}

// permutations returns all orders of the first n numbers.
func permutations(n int) [][]int {
	if n == 0 {
		return [][]int{{}}
	}
	var all [][]int
	for _, p := range permutations(n - 1) {
		for at := range n {
			all = append(all, append(append(append([]int{}, p[:at]...), n-1), p[at:]...))
		}
	}
	return all
}

func TestOnceIsTrueForOneOfAllWhoAskTheSame(t *testing.T) {
	c := control.NewControl(t.Context(), stages.RunInfo{}, time.Now, nil)
	var first atomic.Int64
	var wg conc.WaitGroup
	for range 64 {
		wg.Go(func() {
			if c.Failed.Once("lost") {
				first.Add(1)
			}
		})
	}
	wg.Wait()
	require.EqualValues(t, 1, first.Load())
	require.True(t, c.Failed.Once("another"))
	require.False(t, c.HasFailed())
}

func TestUnrecordedKeepsOnlyWhatTheHaltDoesNotExplain(t *testing.T) {
	reported := &stages.ReportedError{Err: errBroken}
	ofStage := &pipeline.StageError{Stage: "check", Err: errBroken}
	for _, c := range []struct {
		name   string
		halted bool
		err    error
		want   error
	}{
		{"no error", true, nil, nil},
		{"a stage's error", true, ofStage, ofStage},
		{"a stage's error that is recorded", true, &pipeline.StageError{Stage: "check", Err: reported}, nil},
		{"a recorded error", true, reported, nil},
		{"a cancellation by the halt", true, context.Canceled, nil},
		{"a cancellation by somebody else", false, context.Canceled, context.Canceled},
		{"a stage's error before a halt", false, ofStage, ofStage},
		{"a recorded error before a halt", false, reported, reported},
	} {
		t.Run(c.name, func(t *testing.T) {
			run, _ := watched(t)
			if c.halted {
				run.Halt()
			}
			require.Equal(t, c.want, run.Unrecorded(c.err))
		})
	}
}

// A recorded failure must not hide another one of the same pipeline.
func TestUnrecordedKeepsTheOthersOfSeveralErrors(t *testing.T) {
	run, _ := watched(t)
	run.Halt()
	left := run.Unrecorded(&pipeline.RunError{Errors: []error{
		&pipeline.StageError{Stage: "check", Err: &stages.ReportedError{Err: errors.New("recorded")}},
		&pipeline.StageError{Stage: "mine", Err: errBroken},
		context.Canceled,
	}})
	require.ErrorIs(t, left, errBroken)
	require.NotContains(t, left.Error(), "recorded")
	require.NotErrorIs(t, left, context.Canceled)
}

// The pipeline reports its own errors.
func TestTheErrorOfAStageIsNotOneOfTheProgram(t *testing.T) {
	c, _ := watched(t)
	c.ProgramFailed(&pipeline.StageError{Stage: "mine", Err: errBroken}, false)
	require.False(t, c.HasFailed())
	require.True(t, c.IsHalted())
}

func TestRefuseBlamesTheResourceThatAStageRejected(t *testing.T) {
	c, events := watched(t)
	err := c.Refuse(&pipeline.StageError{Stage: "mine", Err: stages.Located{URN: bURN}.Refuse("no")}, true)
	require.True(t, stages.IsReported(err))
	require.True(t, c.IsHalted())
	require.Equal(t, bURN, c.Failures()[0].URN)
	require.Equal(t, bURN, shown(*events)[0].URN)
}

func TestRefuseRecordsNothingTwice(t *testing.T) {
	c, events := watched(t)
	err := &stages.ReportedError{Err: errBroken}
	require.Equal(t, err, c.Refuse(err, false))
	require.False(t, c.HasFailed())
	require.False(t, c.IsHalted())
	require.Empty(t, *events)
}

// The guard of the stage knows whether the pipeline of the operation has stopped.
func TestRefuseRecordsThatAnotherPipelineHasStopped(t *testing.T) {
	c, _ := watched(t)
	require.True(t, stages.IsReported(c.Refuse(&pipeline.StoppedError{Cause: errBroken}, false)))
	require.True(t, c.HasFailed())
	require.True(t, c.IsHalted())
}

func TestAProgramFailsOfItsOwnAccountOnlyIfNothingFailedBefore(t *testing.T) {
	c, events := watched(t)
	c.Fail(1, aURN, stages.CodeFailed, errBroken)
	c.ProgramFailed(errors.New("exit status 1"), false)
	require.Len(t, c.Failures(), 1)
	require.Len(t, shown(*events), 1)
	require.True(t, c.IsHalted())
}

func TestAProgramThatEndsWithTheRunHasNotFailedIfAnythingElseHas(t *testing.T) {
	over := fmt.Errorf("register a: %w", stages.ErrShutDown)
	c, events := watched(t)
	c.ProgramFailed(over, false)
	require.True(t, c.IsHalted())
	require.Empty(t, *events)
	c.Fail(1, aURN, 0, errBroken)
	c.JudgeProgram()
	require.Equal(t, []stages.Failure{{Seq: 1, URN: aURN, Err: errBroken}}, c.Failures())

	c, _ = watched(t)
	c.ProgramFailed(over, false)
	c.JudgeProgram()
	c.JudgeProgram()
	require.Equal(t, []stages.Failure{{Err: over}}, c.Failures(), "once")
}

func TestAFailureOfAProgramRepeatsWhatItHasSaid(t *testing.T) {
	c, _ := watched(t)
	for _, m := range []stages.LogMessage{
		{Message: "one\n"}, {Message: "t", StreamID: 1}, {Message: "\n"}, {Message: "wo\n", StreamID: 1},
	} {
		c.RecordLogged(m)
	}
	for range 20 {
		c.RecordLogged(stages.LogMessage{Message: "more"})
	}
	c.ProgramFailed(errBroken, true)
	err := c.Failures()[0].Err
	require.ErrorIs(t, err, errBroken)
	require.Equal(t, errBroken.Error()+": one; two"+strings.Repeat("; more", 7), err.Error())

	c, _ = watched(t)
	c.RecordLogged(stages.LogMessage{Message: strings.Repeat("é", 10_000)})
	c.RecordLogged(stages.LogMessage{Message: "last"})
	c.ProgramFailed(errBroken, true)
	text := c.Failures()[0].Err.Error()
	require.Less(t, len(text), 3000)
	require.Contains(t, text, "é…; last")
}

func TestAProgramThatHasSaidWhyItFailedIsNotShownAgain(t *testing.T) {
	for said, diagnostics := range map[bool]int{true: 0, false: 1} {
		c, events := watched(t)
		c.ProgramFailed(errBroken, said)
		require.Equal(t, []stages.Failure{{Err: errBroken}}, c.Failures())
		require.Len(t, shown(*events), diagnostics)
		require.True(t, c.IsHalted())
	}
}

func TestABrokenRecordStopsTheRun(t *testing.T) {
	c, _ := watched(t)
	d := &stages.Decision{StepInfo: stages.StepInfo{URN: aURN}, Rank: stages.Rank{Seq: 5}}
	err := c.Broken(d, errBroken)
	require.True(t, stages.IsReported(err))
	require.True(t, c.IsHalted())
	require.Equal(t, []stages.Failure{{Seq: 5, URN: aURN, Err: errBroken}}, c.Failures())
}
