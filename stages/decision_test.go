package stages_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

var web = urn.New("dev", "p", "", "x:index:T", "web")

func TestFatesFollowOneAnotherAsTheTableSays(t *testing.T) {
	may := map[stages.Fate][]stages.Fate{
		// A step that carries a state forward is done, and a refused one has failed, without having begun.
		stages.FateNotReached: {stages.FateBegun, stages.FateSkipped, stages.FateFailed, stages.FateDone},
		stages.FateBegun:      {stages.FateDone, stages.FateFailed},
		stages.FateDone:       nil,
		stages.FateFailed:     nil,
		stages.FateSkipped:    nil,
	}
	for from := range may {
		for to := range may {
			require.Equal(t, slices.Contains(may[from], to), from.MayBecome(to), "from %q to %q", from, to)
		}
		require.False(t, from.MayBecome("unheard-of"))
	}
}

func TestRanksCompareByRegistrationThenPlaceThenView(t *testing.T) {
	ascending := []stages.Rank{
		{Seq: 1, Place: stages.ImportPlace, Sub: 3},
		{Seq: 1, Place: 0, Sub: 9},
		{Seq: 1, Place: 1, Sub: 0},
		{Seq: 1, Place: 1, Sub: 1},
		{Seq: 2, Place: 0, Sub: 0},
		{Seq: stages.EndPhaseSeq},
	}
	for i, a := range ascending {
		for j, b := range ascending {
			switch c := a.Compare(b); {
			case i < j:
				require.Negative(t, c, "%v and %v", a, b)
			case i > j:
				require.Positive(t, c, "%v and %v", a, b)
			default:
				require.Zero(t, c)
			}
		}
	}
}

func TestStepsAreShownWithWhatTheyMadeAndFound(t *testing.T) {
	wanted, made := &state.Resource{URN: web}, &state.Resource{URN: web, ID: "1"}
	d := &stages.Decision{StepInfo: stages.StepInfo{Op: stages.OpRefresh, URN: web, New: wanted}}
	found := stages.StepInfo{Op: stages.OpUpdate, URN: web}

	require.Same(t, wanted, stages.Step{Decision: d}.Shown().New)
	require.Same(t, made, stages.Step{Decision: d, Outcome: stages.Outcome{Made: made}}.Shown().New)
	shown := stages.Step{Decision: d, Outcome: stages.Outcome{Made: made, Found: &found}}.Shown()
	require.Equal(t, stages.OpUpdate, shown.Op)
	require.Same(t, made, shown.New)
	require.Same(t, wanted, d.New, "a decision is immutable")
	require.Nil(t, found.New, "what was found is immutable")
}

func TestKeptStatesAreThoseThatTheRunLeavesAsTheyAre(t *testing.T) {
	kept := map[stages.DecisionKind]bool{stages.Kept: true, stages.Provisional: true}
	for _, k := range []stages.DecisionKind{
		stages.Plain, stages.Kept, stages.Provisional, stages.Uncreated, stages.DeletedFirst, stages.NotCalled,
	} {
		require.Equal(t, kept[k], (&stages.Decision{Kind: k}).IsKept(), "kind %d", k)
	}
}

func TestCarriedStepKeepsTheStateItself(t *testing.T) {
	res := &state.Resource{URN: web, Type: web.Type(), Provider: "p::1"}
	d := stages.CarriedForwardStep(res)
	require.True(t, d.IsKept())
	require.Equal(t, stages.OpSame, d.Op)
	require.Same(t, res, d.Old)
	require.Same(t, res, d.New)
	require.False(t, d.Internal)

	provider := urn.New("dev", "p", "", "pulumi:providers:x", "default_1_0_0")
	require.True(t, stages.CarriedForwardStep(&state.Resource{URN: provider}).Internal, "default providers are neither shown nor counted")
}

func TestStepsForViewsHaveTheRankOfTheirOwner(t *testing.T) {
	owner := &stages.Decision{StepInfo: stages.StepInfo{URN: web, Internal: true}, Rank: stages.Rank{Seq: 4, Place: 2}}
	v := owner.ForView(stages.OpDelete)
	require.Equal(t, owner.Rank, v.Rank)
	require.Equal(t, &stages.ViewOrder{Op: stages.OpDelete, Owner: web}, v.View)
	require.Equal(t, stages.Reason{Kind: stages.ReasonView, Cause: web}, v.Reason)
	require.True(t, v.Internal)
}
