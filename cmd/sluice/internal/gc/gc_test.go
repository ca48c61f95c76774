package gc

import (
	"runtime"
	"runtime/debug"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestTheHeapGrowsByTheSpareBytes(t *testing.T) {
	for _, live := range []uint64{least, 10 << 20, spare, 1 << 30, 1 << 35} {
		grown := live + live*uint64(percent(live))/100
		require.InDelta(t, 2*live+spare, grown, float64(live)/50, "%d", live)
	}
	require.Equal(t, percent(least), percent(0), "before the first collection nothing is known to be in use")
}

func TestVariablesOfTheCollectorTakePrecedence(t *testing.T) {
	now := debug.SetGCPercent(100)
	defer debug.SetGCPercent(now)
	for _, name := range []string{"GOGC", "GOMEMLIMIT"} {
		require.False(t, adapt(func(asked string) string { return map[string]string{name: "1"}[asked] }))
		require.Equal(t, 100, debug.SetGCPercent(100))
	}
	require.True(t, adapt(func(string) string { return "" }))
	require.Equal(t, 1600, debug.SetGCPercent(100))
}

func TestEachCollectionSetsTheNextOne(t *testing.T) {
	now := debug.SetGCPercent(100)
	defer debug.SetGCPercent(now)
	if !adapted {
		t.Skip("a variable of the environment says how the collector works")
	}
	held := make([]byte, spare)
	Follow()
	for range 2 {
		debug.SetGCPercent(100)
		runtime.GC()
		require.Eventually(t, func() bool {
			is := debug.SetGCPercent(100)
			debug.SetGCPercent(is)
			return is > 100 && is <= 200
		}, time.Minute, time.Millisecond)
	}
	runtime.KeepAlive(held)
}
