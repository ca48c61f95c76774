package results

import (
	"encoding/json"
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

func TestFarRunsAreNamed(t *testing.T) {
	r := &Report{Results: []Result{
		{Key: Key{Case: "c", Shape: "wide", Size: 5, Subject: Sluice}, Runs: map[Metric]Sample{Time: {10, 11, 50, 12, 10, 11}}},
		{Key: Key{Case: "calm", Subject: Sluice}, Runs: map[Metric]Sample{Time: {10, 11, 12, 10, 11}}},
	}}
	require.Equal(t, []string{"c wide 5 sluice"}, r.Outliers())
}

func TestRatiosAreThoseOfRunsBesideEachOther(t *testing.T) {
	k := Key{Case: "c", Size: 10, Subject: Sluice}
	r := &Report{Results: []Result{
		{Key: k, Runs: map[Metric]Sample{Time: {2, 40, 6}, Work: {1, 2}, Calls: {1}}},
		{Key: k.Of("pulumi"), Runs: map[Metric]Sample{Time: {10, 200, 30}}},
		{Key: k.Of(Floor), Runs: map[Metric]Sample{Time: {1, 10, 3}, Work: {1, 2, 3}, Calls: {0}}},
		{Key: Key{Case: "alone", Subject: Sluice}, Runs: map[Metric]Sample{Time: {1}}},
	}}
	sluice, floor := &r.Results[0], &r.Results[2]
	require.Equal(t, Floor, r.Baseline(k))
	require.Equal(t, Sample{2, 4, 2}, r.Ratios(sluice, Time), "a busy moment is in both")
	require.Equal(t, Sample{10, 20, 10}, r.Ratios(&r.Results[1], Time))
	require.Nil(t, r.Ratios(floor, Time), "it is the baseline")
	require.Nil(t, r.Ratios(sluice, Work), "runs are missing")
	require.Nil(t, r.Ratios(sluice, Calls), "nothing can be divided by 0")
	require.Empty(t, r.Baseline(r.Results[3].Key))
	verdict, judged := r.Verdict(sluice, Target{Time, Floor, 1.9})
	require.Equal(t, "missed", verdict)
	require.InDelta(t, 2, judged, 0)
	require.Equal(t, Sample{0.2, 4, 0.6}, sluice.PerResource(Time))
	require.Nil(t, r.Results[3].PerResource(Time))
}

func TestLatenciesAreKeptWithThreeDigits(t *testing.T) {
	var empty *Latencies
	require.Zero(t, empty.Quantile(0.5))
	require.Empty(t, empty.Bars())
	l := &Latencies{}
	for n := range 1000 {
		l.Record(time.Duration(n+1) * time.Millisecond)
	}
	l.Record(0)
	l.Record(2 * longestWait)
	require.InEpsilon(t, float64(500*time.Millisecond), float64(l.Quantile(0.5)), 0.01)
	require.InEpsilon(t, float64(longestWait), float64(l.Max()), 0.01)
	total := int64(0)
	bars := l.Bars()
	for i, b := range bars {
		total += b.Count
		require.Equal(t, 2*b.From, b.To, "%d", i)
		if i > 0 {
			require.Equal(t, bars[i-1].To, b.From)
		}
	}
	require.Equal(t, l.Count(), total)

	text, err := json.Marshal(map[string]*Latencies{"of": l, "empty": {}})
	require.NoError(t, err)
	var again map[string]*Latencies
	require.NoError(t, json.Unmarshal(text, &again))
	require.Equal(t, l.Count(), again["of"].Count())
	require.Equal(t, l.Bars(), again["of"].Bars())
	require.Zero(t, again["empty"].Count())
	require.Error(t, json.Unmarshal([]byte(`{"of": "no histogram"}`), &again))
	again["of"].Add(l)
	require.Equal(t, 2*l.Count(), again["of"].Count())
}

func TestATimelineHasAtMost200Moments(t *testing.T) {
	for _, n := range []int{1, 200, 201, 1000, 100_000} {
		var line Timeline
		for i := range n {
			line.Add(Moment{At: float64(i) / 500})
		}
		got := line.Moments()
		require.LessOrEqual(t, len(got), 200, "%d", n)
		require.Zero(t, got[0].At)
		require.GreaterOrEqual(t, len(got), min(n, 90), "%d", n)
		require.GreaterOrEqual(t, got[len(got)-1].At, float64(n-1)/500*0.97, "%d", n)
	}
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
	took, known = h.Estimate(Key{Case: "c", Shape: "chain", Size: 10}, 3)
	require.True(t, known)
	require.Equal(t, 80*time.Second, took, "another shape is better than nothing")
	_, known = h.Estimate(Key{Case: "c", Latency: "20ms", Size: 10}, 3)
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
