package runner

import (
	"context"
	"errors"
	"io"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/bench/internal/meter"
	"github.com/sluice-iac/sluice/bench/internal/results"
)

func TestContendersRunByTurnsAfterAWarmUp(t *testing.T) {
	r := New(t.Context(), Settings{Runs: 2, Only: regexp.MustCompile(""), Log: io.Discard}, nil)
	var order []string
	contender := func(name string, seconds float64) Contender {
		return Contender{Subject: name, Probe: func(context.Context, meter.Run) (meter.Reading, error) {
			order = append(order, name)
			return meter.Reading{Values: map[results.Metric]float64{results.Time: seconds}}, nil
		}}
	}
	require.NoError(t, r.Measure(t.Context(), results.Key{Case: "c", Size: 10}, contender("a", 2), contender("b", 5)))
	require.Equal(t, []string{"a", "b", "a", "b", "a", "b"}, order)
	require.Len(t, r.Report.Results, 2)
	require.Equal(t, results.Key{Case: "c", Size: 10, Subject: "b"}, r.Report.Results[1].Key)
	require.Equal(t, results.Sample{2, 2}, r.Report.Results[1].Runs[results.Rate])
}

func TestACaseThatFailsNamesWhoFailed(t *testing.T) {
	r := New(t.Context(), Settings{Runs: 1, Only: regexp.MustCompile(""), Log: io.Discard}, nil)
	err := r.Measure(t.Context(), results.Key{Case: "c", Shape: "wide"}, Contender{Subject: "a", Probe: func(context.Context, meter.Run) (meter.Reading, error) {
		return nil, errors.New("no room")
	}})
	require.EqualError(t, err, "c wide, a: no room")
	require.Empty(t, r.Report.Results)
}

func TestOnlyCasesThatMatchAreWanted(t *testing.T) {
	r := New(t.Context(), Settings{Only: regexp.MustCompile("^engine .*wide$"), Log: io.Discard}, nil)
	require.True(t, r.Wants(results.Key{Case: "engine preview new", Shape: "wide"}))
	require.False(t, r.Wants(results.Key{Case: "engine preview new", Shape: "chain"}))
}
