package inprocess

import (
	"io"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/bench/internal/results"
	"github.com/sluice-iac/sluice/bench/internal/runner"
	"github.com/sluice-iac/sluice/bench/shape"
)

func small(t *testing.T, callers int) *runner.Runner {
	return runner.New(t.Context(), runner.Settings{
		Sizes: []int{4, 25}, Shapes: shape.All(), Operations: Operations(), Latencies: []string{"0"}, Runs: 1, Callers: callers, Dependents: 2,
		Only: regexp.MustCompile(""), Log: io.Discard,
	}, nil)
}

// calls returns how many provider calls an operation made.
func calls(t *testing.T, r *runner.Runner, operation, s string, size int) float64 {
	t.Helper()
	found := r.Report.Find(results.Key{Case: "engine " + operation, Shape: s, Size: size, Subject: results.Sluice})
	require.NotNil(t, found, "%s %s %d", operation, s, size)
	require.Len(t, found.Runs[results.Time], 1)
	return found.Runs[results.Calls][0]
}

// The provider calls show whether an operation is the named one. There are also calls that set up the provider.
func TestOperationsMakeTheirCalls(t *testing.T) {
	for _, of := range []struct {
		callers int
		shapes  []string
		sizes   []int
	}{
		{0, shape.All(), []int{25}},
		{0, []string{shape.Tree}, []int{4}},
		{3, []string{shape.Wide, shape.Layers, shape.Hub}, []int{25}},
	} {
		callers := of.callers
		r := small(t, callers)
		r.Shapes, r.Sizes = of.shapes, of.sizes
		require.NoError(t, Matrix(t.Context(), r))
		for _, s := range r.Shapes {
			for _, size := range r.Sizes {
				n := float64(shape.Managed(s, size))
				for operation, rounds := range map[string]float64{
					"preview new": 2, "update new": 2, "preview same": 2, "update same": 2, "refresh": 2, "destroy": 1,
				} {
					require.InDelta(t, rounds*n, calls(t, r, operation, s, size), 5, "%s %s %d, %d callers", operation, s, size, callers)
				}
				require.Greater(t, calls(t, r, "update changed", s, size), calls(t, r, "update same", s, size)*0.9)
			}
		}
		if slices.Contains(r.Shapes, shape.Hub) {
			require.InDelta(t, 25, calls(t, r, "import", shape.Wide, 25)/2, 15)
			require.Greater(t, calls(t, r, "update replace", shape.Hub, 25), calls(t, r, "update same", shape.Hub, 25))
		}
		for i := range r.Report.Results {
			k := r.Report.Results[i].Key
			require.Equal(t, results.Channels, r.Report.Baseline(k), "each case has a baseline: %s", k.Name())
		}
	}
}

func TestExtrasHaveWhatTheyAreComparedWith(t *testing.T) {
	r := small(t, 0)
	require.NoError(t, Extras(t.Context(), r))
	update := r.Report.Find(results.Key{Case: "replace a hub, update", Shape: shape.Hub, Latency: "20ms", Size: 2, Subject: results.Sluice})
	require.NotNil(t, update)
	verdict, _ := r.Report.Verdict(update, update.Targets[0])
	require.NotEmpty(t, verdict)
}

func TestLatencies(t *testing.T) {
	for _, name := range []string{"", "0", "2ms", Lognormal, Throttled} {
		require.NoError(t, CheckLatency(name))
	}
	require.Error(t, CheckLatency("slow"))
	require.Error(t, CheckLatency("-2ms"))
	d, err := delaysOf(Lognormal)
	require.NoError(t, err)
	slower := 0
	for range 10_000 {
		if d.draw() > middle {
			slower++
		}
	}
	require.InDelta(t, 5_000, slower, 300, "half of the calls take more than the middle")
}

// With slow calls, the ideal is as long as the calls.
func TestTheIdealCountsRoundsOfCalls(t *testing.T) {
	d, err := delaysOf("10ms")
	require.NoError(t, err)
	same := row{do: sluice.Preview, reads: 2}
	require.InDelta(t, 0.02, same.ideal(results.Key{Shape: shape.Wide, Size: 100}, d), 1e-9)
	require.InDelta(t, 0.04, same.ideal(results.Key{Shape: shape.Wide, Size: 2 * concurrency}, d), 1e-9)
	require.InDelta(t, 2, same.ideal(results.Key{Shape: shape.Chain, Size: 100}, d), 1e-9)
	random, err := delaysOf(Lognormal)
	require.NoError(t, err)
	require.Zero(t, same.ideal(results.Key{Shape: shape.Wide, Size: 100}, random), "the slowest call decides")
	throttled, err := delaysOf(Throttled)
	require.NoError(t, err)
	require.InDelta(t, 0.2, same.ideal(results.Key{Shape: shape.Chain, Size: 100}, throttled), 1e-9)
	require.Zero(t, same.ideal(results.Key{Shape: shape.Wide, Size: 100}, delays{}))
}
