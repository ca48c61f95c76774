package why_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/why"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// Which of two registrations arrives first is a matter of timing.
func TestTheLogDoesNotDependOnArrival(t *testing.T) {
	const a = urn.URN("urn:pulumi:dev::p::test:index:Thing::a")
	recorded := &state.Resource{URN: a}
	byAnother := stages.Decided{Declared: a + "-root", Fate: stages.FateNotReached, StepInfo: &stages.StepInfo{Op: stages.OpDelete, URN: a, Old: recorded}}
	byItself := stages.Decided{Declared: a, Fate: stages.FateDone, StepInfo: &stages.StepInfo{Op: stages.OpSame, URN: a, Old: recorded, New: recorded}}
	steps := []stages.Decided{byItself, byAnother}
	one := why.New(why.About{}, slices.Clone(steps), why.Known{})
	slices.Reverse(steps)
	require.Equal(t, why.New(why.About{}, steps, why.Known{}), one)
}
