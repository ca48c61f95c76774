package stages_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/graph"
	"github.com/sluice-iac/sluice/pipeline"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

func TestAQuestionKeepsItsFirstAnswer(t *testing.T) {
	first := &stages.RegisterReply{URN: web, ID: "1"}
	q := stages.NewPendingReply(true)
	q.Answer(first)
	q.Answer(&stages.RegisterReply{URN: web, ID: "2"})
	q.Reject(errors.New("too late"))
	got, err := q.Wait(t.Context())
	require.NoError(t, err)
	require.Same(t, first, got)
}

func TestARejectedQuestionStaysRejected(t *testing.T) {
	cause := errors.New("no")
	q := stages.NewPendingReply(true)
	q.Reject(cause)
	q.Answer(&stages.RegisterReply{URN: web})
	_, err := q.Wait(t.Context())
	require.ErrorIs(t, err, cause)
}

func TestAnOpenQuestionWaitsAsLongAsItsContext(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(stages.ErrShutDown)
	_, err := stages.NewPendingReply(true).Wait(ctx)
	require.ErrorIs(t, err, stages.ErrShutDown)
}

func TestProgramsHearOfAStoppedRunOnlyThatItShutDown(t *testing.T) {
	for _, reason := range []error{
		nil, pipeline.ErrStopped, &pipeline.StoppedError{Cause: errors.New("of another resource")},
		fmt.Errorf("build: %w", &stages.ReportedError{Err: errors.New("shown already")}),
	} {
		q := stages.NewPendingReply(true)
		q.Reject(reason)
		_, err := q.Wait(t.Context())
		require.Equal(t, stages.ErrShutDown, err, "%v", reason)
	}
}

func TestOnlyProgramsThatUnderstandResultsGetThem(t *testing.T) {
	for _, result := range []stages.Result{stages.Fail, stages.Skip} {
		reply := &stages.RegisterReply{URN: web, Result: result}
		modern, old := stages.NewPendingReply(true), stages.NewPendingReply(false)
		modern.Answer(reply)
		old.Answer(reply)
		got, err := modern.Wait(t.Context())
		require.NoError(t, err)
		require.Same(t, reply, got)
		_, err = old.Wait(t.Context())
		require.Equal(t, stages.ErrRegistrationFailed, err)
	}
	old := stages.NewPendingReply(false)
	old.Answer(&stages.RegisterReply{URN: web})
	_, err := old.Wait(t.Context())
	require.NoError(t, err)
}

func TestNobodyIsRejectedWhereNobodyAsks(t *testing.T) {
	var q *stages.PendingReply
	require.NotPanics(t, func() { q.Reject(errors.New("no")) })
}

// The pipeline looks up a method Reject on every item that goes no further.
func TestTheQuestionOfEveryItemIsRejectedByThePipeline(t *testing.T) {
	cause := errors.New("no")
	for _, carry := range []func(*stages.PendingReply) any{
		func(q *stages.PendingReply) any { return stages.Submitted{PendingReply: q} },
		func(q *stages.PendingReply) any { return stages.Registered{PendingReply: q} },
		func(q *stages.PendingReply) any { return located(q) },
		func(q *stages.PendingReply) any { return stages.Checked{Located: located(q)} },
		func(q *stages.PendingReply) any { return stages.Analyzed{Checked: stages.Checked{Located: located(q)}} },
		func(q *stages.PendingReply) any {
			return stages.Diffed{Analyzed: stages.Analyzed{Checked: stages.Checked{Located: located(q)}}}
		},
		func(q *stages.PendingReply) any { return stages.Built{Located: located(q)} },
	} {
		q := stages.NewPendingReply(true)
		item := carry(q)
		rejecter, ok := item.(pipeline.Rejecter)
		require.True(t, ok, "%T", item)
		rejecter.Reject(cause)
		_, err := q.Wait(t.Context())
		require.ErrorIs(t, err, cause)
	}
}

func located(q *stages.PendingReply) stages.Located {
	return stages.Located{Registered: stages.Registered{PendingReply: q}}
}

func TestErrorsAreListedByTheNumberOfTheRegistration(t *testing.T) {
	l := stages.Located{Seq: 7, URN: web}
	var _ pipeline.Sequencer = stages.Built{Located: l}
	var _ pipeline.Sequencer = stages.Executed{}
	require.EqualValues(t, 7, l.Sequence())
	require.EqualValues(t, 7, stages.Executed{Seq: 7}.Sequence())
}

func TestItemsAreNamedForMessages(t *testing.T) {
	const name = `x:index:T "web"`
	require.Equal(t, name, stages.Submitted{Register: &stages.RegisterRequest{Type: "x:index:T", Name: "web"}}.String())
	require.Equal(t, name, stages.Submitted{Read: &stages.ReadRequest{Type: "x:index:T", Name: "web"}}.String())
	require.Equal(t, name, stages.Submitted{Internal: &stages.Goal{Type: "x:index:T", Name: "web"}}.String())
	require.Equal(t, name, stages.Registered{Goal: &stages.Goal{Type: "x:index:T", Name: "web"}}.String())
	require.Equal(t, name, stages.Registered{Read: &stages.ReadGoal{Type: "x:index:T", Name: "web"}}.String())
	require.Equal(t, string(web), stages.Located{URN: web}.String())
}

func TestBuiltListsItsStepsTaskByTask(t *testing.T) {
	step := func(op stages.Op) *stages.Decision { return &stages.Decision{StepInfo: stages.StepInfo{Op: op}} }
	a, b, c := step(stages.OpDelete), step(stages.OpReplace), step(stages.OpCreateReplacement)
	require.Empty(t, stages.Built{}.Steps())
	require.Equal(t, []*stages.Decision{a, b}, stages.Built{Tasks: []stages.Task{{Steps: []*stages.Decision{a, b}}}}.Steps())
	require.Equal(t, []*stages.Decision{a, b, c}, stages.Built{Tasks: []stages.Task{
		{ID: 0, Steps: []*stages.Decision{a}}, {ID: 1, After: []graph.ID{0}}, {ID: 2, Steps: []*stages.Decision{b, c}},
	}}.Steps())
}

func TestAReplacementNeedsAChangeAndSomebodyWhoAsksForIt(t *testing.T) {
	changed := providers.DiffResponse{Changes: providers.DiffSome}
	old, pending := &state.Resource{URN: web}, &state.Resource{URN: web, PendingReplacement: true}
	at := func(old *state.Resource) stages.Analyzed {
		return stages.Analyzed{Checked: stages.Checked{Located: stages.Located{Old: old}}}
	}
	for _, c := range []struct {
		name string
		d    stages.Diffed
		want bool
	}{
		{"new", stages.Diffed{Diff: changed, MustReplace: true, Analyzed: at(nil)}, false},
		{"an update", stages.Diffed{Diff: changed, Analyzed: at(old)}, false},
		{"a change that replaces", stages.Diffed{Diff: changed, MustReplace: true, Analyzed: at(old)}, true},
		{"a trigger", stages.Diffed{Diff: changed, Triggered: true, Analyzed: at(old)}, true},
		{"a replacement without a change", stages.Diffed{MustReplace: true, Triggered: true, Analyzed: at(old)}, false},
		{"deleted by an earlier run", stages.Diffed{Analyzed: at(pending)}, true},
		{"deleted by this run", stages.Diffed{DeletedByClosure: true, Analyzed: at(old)}, true},
	} {
		t.Run(c.name, func(t *testing.T) { require.Equal(t, c.want, c.d.Replaces()) })
	}
}

func TestBypassedCoursesAreThoseOfRefreshesAndDestroys(t *testing.T) {
	bypassed := map[stages.Course]bool{stages.Bypassed: true, stages.RefersToSkipped: true}
	for _, c := range []stages.Course{stages.Managed, stages.LeftOut, stages.Bypassed, stages.RefersToSkipped, stages.ImportFailed} {
		require.Equal(t, bypassed[c], c.IsBypassed(), "course %d", c)
	}
}

func TestNewStateIsTheGoalWithCheckedInputs(t *testing.T) {
	yes := true
	made := time.Unix(1, 0)
	former := urn.New("dev", "p", "", "x:index:T", "site")
	l := stages.Located{
		URN: web, Alias: former, Old: &state.Resource{URN: former, ID: "1", Created: made, Modified: made, RefreshBeforeUpdate: true},
		Registered: stages.Registered{Goal: &stages.Goal{
			Type: "x:index:T", Custom: true, Inputs: property.NewMap(map[string]property.Value{"size": property.Number(1)}),
			Protect: &yes, RetainOnDelete: &yes, ReplacementTrigger: property.String("again"),
		}},
	}
	inputs := property.NewMap(map[string]property.Value{"size": property.Number(2)})
	s := l.NewState(stages.Checked{Inputs: inputs})
	require.Equal(t, web, s.URN)
	require.True(t, property.EqualMaps(inputs, s.Inputs))
	require.True(t, s.Protect && s.RetainOnDelete && s.RefreshBeforeUpdate)
	require.Equal(t, []urn.URN{former}, s.Aliases)
	require.Equal(t, made, s.Created)
	require.Empty(t, s.ID, "only a provider gives IDs")
	require.Equal(t, "again", s.ReplacementTrigger.AsString())

	l.Origin = stages.FromImport
	require.True(t, l.NewState(stages.Checked{}).ReplacementTrigger.IsNull(), "an import records no trigger")
}

func TestReadsAreExternalAndMayLackAnID(t *testing.T) {
	l := stages.Located{URN: web, Registered: stages.Registered{Read: &stages.ReadGoal{Type: "x:index:T", ID: property.String("1")}}}
	s := l.Unmade(stages.Checked{})
	require.True(t, s.External && s.Custom)
	require.Equal(t, "1", s.ID)
	l.Read.ID = property.Computed()
	require.Empty(t, l.Unmade(stages.Checked{}).ID)
}

func TestReadsHaveNoAliases(t *testing.T) {
	goal := stages.Registered{Goal: &stages.Goal{Name: "a", Aliases: []urn.Alias{{Name: "b"}}}}
	require.Len(t, goal.Subject().Aliases, 1)
	require.Empty(t, stages.Registered{Read: &stages.ReadGoal{Name: "a"}}.Subject().Aliases)
}
