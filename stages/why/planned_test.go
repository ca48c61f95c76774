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
