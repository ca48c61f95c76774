package requests

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestHalfOfTheMemoryIsForProgramsAndTheRestForRecording(t *testing.T) {
	require.NoError(t, memory{used: 1 << 40, limit: math.MaxInt64}.full(), "no limit")
	require.NoError(t, memory{used: 500, limit: 1000}.full())
	require.ErrorContains(t, memory{used: 6e9, limit: 10e9}.full(), "takes 6.0 of 10.0 GB")
}

func TestTheMemoryInUseIsKnown(t *testing.T) {
	m := memoryNow()
	require.Positive(t, m.limit)
	require.LessOrEqual(t, m.used, uint64(math.MaxInt64))
}

func BenchmarkMemoryNow(b *testing.B) {
	for b.Loop() {
		_ = memoryNow()
	}
}
