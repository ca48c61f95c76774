package why

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

func TestWhatWasPlannedAndNotComeToIsNotReached(t *testing.T) {
	log := func(ds ...Decision) *Log { return &Log{Decisions: ds, index: newIndex(ds)} }
	preview := log(Decision{URN: "a", Op: stages.OpReplace}, Decision{URN: "b", Op: stages.OpUpdate}, Decision{URN: "c", Op: stages.OpSame},
		Decision{URN: "d", Op: stages.OpCreate, Internal: true})
	operation := log(Decision{URN: "b", Op: stages.OpReplace, Fate: stages.FateFailed})
	got := operation.WithPlanned(preview)
	require.Equal(t, []Decision{{URN: "a", Op: stages.OpReplace, Fate: stages.FateNotReached}, {URN: "b", Op: stages.OpReplace, Fate: stages.FateFailed}}, got.Decisions)
	require.Equal(t, []urn.URN{"a", "b"}, got.urns())
	require.Len(t, operation.Decisions, 1, "a log does not change")
	require.Same(t, got, got.WithPlanned(preview))
	require.Same(t, operation, operation.WithPlanned(nil))
	require.Nil(t, (*Log)(nil).WithPlanned(preview))
}

func TestAReplacementSaysWhetherItsOldObjectIsStillThere(t *testing.T) {
	step := func(op stages.Op, fate stages.Fate) stages.Decided {
		return stages.Decided{StepInfo: &stages.StepInfo{Op: op, URN: named("a")}, Fate: fate}
	}
	made, whole := step(stages.OpCreateReplacement, stages.FateDone), step(stages.OpReplace, stages.FateDone)
	for name, test := range map[string]struct {
		steps   []stages.Decided
		preview bool
		want    bool
	}{
		"nothing was deleted at the end":      {steps: []stages.Decided{made, whole}, want: true},
		"it was deleted":                      {steps: []stages.Decided{made, whole, step(stages.OpDeleteReplaced, stages.FateDone)}},
		"it was given up":                     {steps: []stages.Decided{made, whole, step(stages.OpDiscardReplaced, stages.FateDone)}},
		"its delete failed":                   {steps: []stages.Decided{made, whole, step(stages.OpDeleteReplaced, stages.FateFailed)}, want: true},
		"only one of two was deleted":         {steps: []stages.Decided{made, whole, step(stages.OpDeleteReplaced, stages.FateDone), step(stages.OpDeleteReplaced, stages.FateNotReached)}, want: true},
		"the new one was not made":            {steps: []stages.Decided{step(stages.OpCreateReplacement, stages.FateFailed), step(stages.OpReplace, stages.FateNotReached)}},
		"deleted first":                       {steps: []stages.Decided{step(stages.OpDeleteReplaced, stages.FateDone), whole, made}},
		"a preview makes and deletes nothing": {steps: []stages.Decided{made, whole}, preview: true},
	} {
		t.Run(name, func(t *testing.T) {
			log := New(About{Preview: test.preview}, test.steps, Known{})
			require.Equal(t, test.want, log.Decisions[0].OldRemains)
			require.Len(t, log.Decisions, 1)
		})
	}
}
