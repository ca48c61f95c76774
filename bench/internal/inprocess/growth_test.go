package inprocess

import (
	"io"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/bench/internal/results"
	"github.com/sluice-iac/sluice/bench/internal/runner"
	"github.com/sluice-iac/sluice/bench/shape"
	"github.com/sluice-iac/sluice/testing/tier"
)

// Counts do not depend on the load of the machine: a quadratic step, or a second conversion of each resource, shows in the allocations. Times
// are ignored.
func TestCountsGrowWithTheStackAndNotFaster(t *testing.T) {
	tier.Slow(t, "thousands of resources, again and again")
	// A size halfway between the two would not change the exponents, which are slopes of straight lines.
	r := runner.New(t.Context(), runner.Settings{
		Sizes: []int{250, 1000}, Shapes: []string{shape.Wide, shape.Chain, shape.Tree, shape.Hub, shape.Layers, shape.Aliases}, Operations: Operations(),
		Latencies: []string{"0"}, Runs: 1, Only: regexp.MustCompile(""), Log: io.Discard,
	}, nil)
	require.NoError(t, Matrix(t.Context(), r))
	const linear = 1.1 // fixed costs of an operation lower the exponent, and no linear cost raises it that much
	grown := r.Report.Grown(results.Calls, results.Allocs, results.Allocated)
	require.Greater(t, len(grown), 100)
	for _, g := range grown {
		if g.Key.Subject != results.Sluice {
			continue
		}
		require.Less(t, g.Exponent, linear, "%s of %q grow faster than the stack", g.Metric, g.Key.Name())
	}
	durable := func(m results.Metric, size int) float64 {
		found := r.Report.Find(results.Key{Case: "engine update durable", Shape: shape.Wide, Size: size, Subject: results.Sluice})
		require.NotNil(t, found)
		return found.Runs[m].Median()
	}
	// An operation waits for the disk at most before and after each step, and usually far less often.
	t.Logf("an update of 1,000 waits for the disk %.0f times", durable(results.Syncs, 1000))
	require.LessOrEqual(t, durable(results.Syncs, 1000), 2.0*(1000+fewSyncs))
	require.Positive(t, durable(results.Syncs, 250))
	if written := r.Report.Grown(results.Written); len(written) > 0 { // if the system reports it
		for _, g := range written {
			if g.Key.Case == "engine update durable" {
				require.Less(t, g.Exponent, linear, "what %q writes grows faster than the stack", g.Key.Name())
			}
		}
		t.Logf("%.0f bytes are written for each resource", durable(results.Written, 1000)/1000)
		require.LessOrEqual(t, durable(results.Written, 1000)/1000, 6_000.0)
	}
	// Allocations for a resource, a fifth above the present ones. An improvement lowers the limit.
	most := map[string]float64{"preview new": 60, "preview same": 66, "update new": 70, "update same": 66, "refresh": 35, "destroy": 21}
	for operation, limit := range most {
		found := r.Report.Find(results.Key{Case: "engine " + operation, Shape: shape.Wide, Size: 1000, Subject: results.Sluice})
		require.NotNil(t, found, operation)
		t.Logf("%s: %.1f allocations for each resource", operation, found.Runs[results.Allocs].Median()/1000)
		require.LessOrEqual(t, found.Runs[results.Allocs].Median()/1000, limit, "allocations of %s for each resource", operation)
	}
}
