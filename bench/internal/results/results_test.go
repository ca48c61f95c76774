package results

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAMedianIsTheMiddle(t *testing.T) {
	require.Zero(t, Sample(nil).Median())
	require.InDelta(t, 3, Sample{5, 1, 3}.Median(), 0)
	require.InDelta(t, 2.5, Sample{4, 1, 2, 3}.Median(), 0)
}

func TestAFarRunIsAnOutlier(t *testing.T) {
	require.Empty(t, Sample{10, 11, 12, 10, 11}.Outliers())
	require.Equal(t, []float64{50}, Sample{10, 11, 50, 12, 10, 11}.Outliers())
	require.Empty(t, Sample{1, 1, 1, 1, 1.05}.Outliers(), "equal runs have no width")
	require.Empty(t, Sample{1, 100, 1}.Outliers(), "three runs say nothing")
}

func TestAQuantileIsBetweenValues(t *testing.T) {
	sorted := make([]float64, 100)
	for i := range sorted {
		sorted[i] = float64(i + 1)
	}
	require.InDelta(t, 50, Quantile(sorted, 0.5), 0.5)
	require.InDelta(t, 99, Quantile(sorted, 0.99), 0.5)
	require.InDelta(t, 7, Quantile([]float64{7}, 0.99), 0)
}

func TestAChangeIsSignificantIfChanceIsUnlikely(t *testing.T) {
	older, slower := Sample{100, 101, 102, 103, 104}, Sample{110, 111, 112, 113, 114}
	c := Compare(older, slower)
	require.True(t, c.Significant())
	require.InDelta(t, 2.0/252, c.P, 1e-9, "the smallest p-value of five runs each")
	require.InDelta(t, 112.0/102, c.Ratio(), 1e-9)
	require.False(t, Compare(older, Sample{99, 103, 101, 105, 102}).Significant())
	few := Compare(Sample{1, 2}, Sample{10, 20})
	require.False(t, few.Significant(), "two runs cannot show anything")
	require.True(t, few.TooFew)
	require.False(t, c.TooFew)
	require.InDelta(t, 1, Compare(Sample{0, 0}, Sample{0, 0}).Ratio(), 0)
}

func TestGrowthIsThePowerOfTheSize(t *testing.T) {
	r := &Report{}
	for _, n := range []int{100, 1000, 10000} {
		r.Results = append(r.Results, Result{
			Key:  Key{Case: "c", Size: n, Subject: Sluice},
			Runs: map[Metric]Sample{Time: {float64(n) * float64(n) * 3}, Allocs: {float64(n) * 2}, Calls: {5}},
		})
	}
	r.Results = append(r.Results, Result{Key: Key{Case: "one size", Size: 10, Subject: Sluice}, Runs: map[Metric]Sample{Time: {1}}})
	grown := r.Grown(Time, Allocs, Calls, Written)
	require.Len(t, grown, 3, "nothing was written, and one size has no growth")
	for i, exponent := range []float64{2, 1, 0} {
		require.InDelta(t, exponent, grown[i].Exponent, 1e-9)
		require.InDelta(t, 1, grown[i].Fit, 1e-9)
		require.Equal(t, []int{100, 1000, 10000}, grown[i].Sizes)
	}
}

func TestAVerdictComparesWithTheTarget(t *testing.T) {
	k := Key{Case: "c", Size: 10, Subject: Sluice}
	r := &Report{Results: []Result{
		{Key: k, Runs: map[Metric]Sample{Time: {3}}, Ideal: 2},
		{Key: k.Of(Floor), Runs: map[Metric]Sample{Time: {2}}},
	}}
	for _, c := range []struct {
		target  Target
		verdict string
		judged  float64
	}{
		{Target{Time, "", 3}, "ok", 3},
		{Target{Time, "", 2}, "missed", 3},
		{Target{Time, Floor, 1.5}, "ok", 1.5},
		{Target{Time, Ideal, 1.4}, "missed", 1.5},
		{Target{Time, "pulumi", 1}, "", 0},
		{Target{Work, "", 1}, "", 0},
	} {
		verdict, judged := r.Verdict(&r.Results[0], c.target)
		require.Equal(t, c.verdict, verdict)
		require.InDelta(t, c.judged, judged, 1e-9)
	}
}

func TestADoubtfulResultSaysWhy(t *testing.T) {
	r := Result{Load: 0.7, Runs: map[Metric]Sample{Time: {10, 11, 50, 12, 10, 11}}}
	r.Warn()
	require.Len(t, r.Warnings, 2)
	calm := Result{Load: 0.1, Runs: map[Metric]Sample{Time: {10, 11, 12, 10, 11}}}
	calm.Warn()
	require.Empty(t, calm.Warnings)
}

func TestAReportIsReadAsItWasWritten(t *testing.T) {
	file := filepath.Join(t.TempDir(), "folder", "r.json")
	r := &Report{Commit: "c", Machine: ThisMachine(), Results: []Result{{Key: Key{Case: "c", Subject: Sluice}, Runs: map[Metric]Sample{Time: {1, 2}}}}}
	require.NoError(t, r.Write(file))
	again, err := Read(file)
	require.NoError(t, err)
	require.Equal(t, r.Results, again.Results)
	require.Equal(t, r.Machine, again.Machine)
	_, err = Read(filepath.Join(t.TempDir(), "none"))
	require.Error(t, err)
}
