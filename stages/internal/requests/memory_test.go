package requests

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/stages"
)

func TestHalfOfTheMemoryIsForProgramsAndTheRestForRecording(t *testing.T) {
	require.NoError(t, full(1<<40, 0), "no limit")
	require.NoError(t, full(500, 1000))
	require.ErrorContains(t, full(6e9, 10e9), "takes 6.0 of 10.0 GB")
}

func TestOnlyWhatTheOperationHasAddedCounts(t *testing.T) {
	require.Zero(t, memoryNow(stages.Memory{Before: math.MaxUint64}))
	require.LessOrEqual(t, memoryNow(stages.Memory{}), uint64(math.MaxInt64))
}

func BenchmarkMemoryNow(b *testing.B) {
	for b.Loop() {
		_ = memoryNow(stages.Memory{})
	}
}
