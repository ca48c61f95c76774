package stages_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/advice"
	"github.com/sluice-iac/sluice/pipeline"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

var errCause = errors.New("the cause")

func TestErrorsSayWhatTheyStandForAndUnwrapIt(t *testing.T) {
	for _, c := range []struct {
		err  error
		text string
	}{
		{&stages.InvalidRequestError{Err: errCause}, "the cause"},
		{stages.Invalid("size: %w", errCause), "size: the cause"},
		{&stages.ReportedError{Err: errCause}, "the cause"},
		{stages.Failure{Err: errCause}, "the cause"},
		{stages.Failure{URN: web, Err: errCause}, string(web) + ": the cause"},
		{&stages.AnalyzerLostError{Analyzer: "pack", Err: errCause}, "the cause"},
	} {
		require.EqualError(t, c.err, c.text)
		require.ErrorIs(t, c.err, errCause)
	}
}

func TestInvalidRequestsHaveAType(t *testing.T) {
	require.ErrorAs(t, stages.Invalid("no"), new(*stages.InvalidRequestError))
}

func TestOnlyReportedErrorsAreReported(t *testing.T) {
	reported := &stages.ReportedError{Err: errCause}
	require.True(t, stages.IsReported(reported))
	require.True(t, stages.IsReported(&pipeline.StageError{Stage: "check", Err: fmt.Errorf("again: %w", reported)}))
	require.False(t, stages.IsReported(errCause))
	require.False(t, stages.IsReported(nil))
}

func TestARejectionNamesItsResource(t *testing.T) {
	err := stages.Located{URN: web}.Refuse("not on Fridays")
	var refused *stages.RefusedError
	require.ErrorAs(t, err, &refused)
	require.Equal(t, web, refused.URN)
	require.EqualError(t, err, "not on Fridays")
}

func TestAnInterruptedCreateSaysWhatToDo(t *testing.T) {
	former := urn.New("dev", "p", "", "x:index:T", "it's")
	err := &stages.InterruptedCreateError{URN: web, Interrupted: web}
	require.Contains(t, err.Error(), string(web)+" is not created: an earlier operation was interrupted while creating it, and")
	require.Equal(t, []advice.Advice{advice.On(advice.ResolveCreate, web)}, advice.Of(err))
	err.Interrupted = former
	require.Contains(t, err.Error(), "while creating it as "+string(former)+", and")
	require.Equal(t, []advice.Advice{advice.On(advice.ResolveCreate, former)}, advice.Of(err))
}

func TestAPlanViolationSaysWhatWasPlannedAndWhatWouldHappen(t *testing.T) {
	v := &stages.PlanViolation{URN: web, Rule: "the rule", Planned: "create", Now: "delete"}
	require.EqualError(t, v, "the rule\n  planned:    create\n  now:        delete\n"+
		"  what to do: undo what changed since the preview, or preview again and update by the new plan")
}

func TestViolationsNameEachPolicyOnce(t *testing.T) {
	policies := []string{"tags", "cost", "tags"}
	require.EqualError(t, &stages.ViolationError{Policies: policies}, "the stack violates cost, tags")
	require.EqualError(t, &stages.ViolationError{URN: web, Policies: policies}, "resource "+string(web)+" is invalid: it violates cost, tags")
	require.Equal(t, []string{"tags", "cost", "tags"}, policies)
}

func TestEnforcementLevelsAreReadAsTheyAreWritten(t *testing.T) {
	for _, l := range []stages.EnforcementLevel{stages.Advisory, stages.Mandatory, stages.Disabled, stages.Remediate} {
		read, ok := stages.ParseEnforcementLevel(l.String())
		require.True(t, ok)
		require.Equal(t, l, read)
	}
	_, ok := stages.ParseEnforcementLevel("strict")
	require.False(t, ok)
	require.Equal(t, "EnforcementLevel(9)", stages.EnforcementLevel(9).String())
	require.Equal(t, "EnforcementLevel(-1)", stages.EnforcementLevel(-1).String())
}
