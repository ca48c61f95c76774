package results

import (
	"path/filepath"
	"testing"
	"time"

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
	r := Result{Runs: map[Metric]Sample{Time: {10, 11, 50, 12, 10, 11}}}
	r.Warn()
	require.Len(t, r.Warnings, 1)
	calm := Result{Runs: map[Metric]Sample{Time: {10, 11, 12, 10, 11}}}
	calm.Warn()
	require.Empty(t, calm.Warnings)
}

func TestABusyMachineIsOneRemark(t *testing.T) {
	k := Key{Case: "c", Size: 1}
	r := &Report{Results: []Result{
		{Key: k.Of("a"), Others: 0.3}, {Key: k.Of("b"), Others: 0.3}, {Key: Key{Case: "d"}, Others: 0.5}, {Key: Key{Case: "e"}, Others: 0.05}, {Key: Key{Case: "f"}, Others: -1},
	}}
	cases, most := r.Busy()
	require.Equal(t, 2, cases)
	require.InDelta(t, 0.5, most, 0)
	require.True(t, r.Has(k))
	require.True(t, r.Has(Key{Case: "c"}), "a case that does not know its size yet")
	require.False(t, r.Has(Key{Case: "c", Size: 2}))
	require.Equal(t, 4, r.Cases())
}

func TestEstimatesAreThoseOfTheNewestReportOrOfAnotherSize(t *testing.T) {
	at := func(year int, took float64, sizes ...int) *Report {
		r := &Report{Time: time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC)}
		for _, n := range sizes {
			for _, who := range []string{Sluice, Floor} {
				r.Results = append(r.Results, Result{Key: Key{Case: "c", Size: n, Subject: who}, Took: took * float64(n), Runs: map[Metric]Sample{Time: {1, 2, 3}}})
			}
		}
		return r
	}
	h := History{at(2020, 8, 10), at(2022, 4, 10), at(2021, 2, 10), at(2024, 100, 20)}
	took, known := h.Estimate(Key{Case: "c", Size: 10}, 3)
	require.True(t, known)
	require.Equal(t, 80*time.Second, took, "two contenders in the report of 2022")
	took, known = h.Estimate(Key{Case: "c", Size: 40}, 7)
	require.True(t, known)
	require.Equal(t, 4*4000*time.Second, took, "twice as large and twice as often as in the newest report")
	_, known = h.Estimate(Key{Case: "other", Size: 10}, 3)
	require.False(t, known)
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
