package runner

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"regexp"
	"testing"
	"time"

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

func TestATrialRunsOnce(t *testing.T) {
	r := New(t.Context(), Settings{Runs: 5, Trial: true, Only: regexp.MustCompile(""), Log: io.Discard}, nil)
	runs := 0
	require.NoError(t, r.Measure(t.Context(), results.Key{Case: "c", Size: 10}, Contender{Subject: "a", Probe: func(ctx context.Context, run meter.Run) (meter.Reading, error) {
		runs++
		return meter.Function(ctx, run, func(context.Context) error { return nil })
	}}))
	require.Equal(t, 1, runs)
	of := r.Report.Results[0]
	require.Len(t, of.Runs[results.Time], 1)
	require.NotEmpty(t, of.Timeline)
	require.Zero(t, of.Took, "the next runs take another time")
}

func TestACaseThatFailsNamesWhoFailed(t *testing.T) {
	r := New(t.Context(), Settings{Runs: 1, Only: regexp.MustCompile(""), Log: io.Discard}, nil)
	err := r.Measure(t.Context(), results.Key{Case: "c", Shape: "wide"}, Contender{Subject: "a", Probe: func(context.Context, meter.Run) (meter.Reading, error) {
		return meter.Reading{}, errors.New("no room")
	}})
	require.EqualError(t, err, "c wide, a: no room")
	require.Empty(t, r.Report.Results)
}

func TestOnlyCasesThatMatchAreWanted(t *testing.T) {
	r := New(t.Context(), Settings{Only: regexp.MustCompile("^engine .*wide$"), Log: io.Discard}, nil)
	require.True(t, r.Wants(results.Key{Case: "engine preview new", Shape: "wide"}))
	require.False(t, r.Wants(results.Key{Case: "engine preview new", Shape: "chain"}))
}

// A contender that cannot be profiled is run once more, and one that can until enough is known.
func TestProfilesAreOfFurtherRuns(t *testing.T) {
	r := New(t.Context(), Settings{Runs: 1, Only: regexp.MustCompile(""), Log: io.Discard, ProfileFor: time.Hour}, nil)
	r.Profiles = t.TempDir()
	counted, profiled := map[string]int{}, map[string]int{}
	contender := func(name string, does bool) Contender {
		return Contender{Subject: name, Probe: func(ctx context.Context, run meter.Run) (meter.Reading, error) {
			if run.Profile == nil {
				counted[name]++
			} else {
				profiled[name]++
			}
			if !does {
				run.Profile = nil
			}
			reading, err := meter.Function(ctx, run, func(context.Context) error { return nil })
			reading.Values[results.Time] = 30 * 60
			return reading, err
		}}
	}
	require.NoError(t, r.Measure(t.Context(), results.Key{Case: "c", Size: 10}, contender("a", true), contender("b", false)))
	require.Equal(t, map[string]int{"a": 2, "b": 2}, counted)
	require.Equal(t, map[string]int{"a": 2, "b": 1}, profiled)
	require.Len(t, r.Report.Results[0].Runs[results.Time], 1)
	require.Equal(t, 2, r.Profiled)
	require.FileExists(t, filepath.Join(r.Profiles, "c_10_a.cpu.pb.gz"))
	require.FileExists(t, filepath.Join(r.Profiles, "c_10_a.mem.pb.gz"))
	require.NotEmpty(t, r.Report.Results[0].Timeline)
}

func TestLatenciesOfAllRunsAreTogether(t *testing.T) {
	r := New(t.Context(), Settings{Runs: 2, Only: regexp.MustCompile(""), Log: io.Discard}, nil)
	runs := 0
	require.NoError(t, r.Measure(t.Context(), results.Key{Case: "c", Size: 1}, Contender{Subject: "a", Probe: func(context.Context, meter.Run) (meter.Reading, error) {
		runs++
		l := &results.Latencies{}
		l.Record(time.Duration(runs) * time.Second)
		return meter.Reading{Values: map[results.Metric]float64{}, Latencies: l}, nil
	}}))
	of := r.Report.Results[0]
	require.EqualValues(t, 2, of.Latencies.Count(), "not the first run")
	require.InDelta(t, 3, of.Latencies.Max().Seconds(), 0.01)
	require.InDeltaSlice(t, []float64{2, 3}, []float64(of.Runs[results.Slowest]), 0.01)
}
