package formats

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/perf/benchfmt"

	"github.com/sluice-iac/sluice/bench/internal/results"
)

func report(times ...float64) *results.Report {
	r := &results.Report{
		Commit: "abc", Machine: results.Machine{System: "linux/amd64", Processor: "A|B", Processors: 4, Go: "go1.26", Load: 0.25},
		Versions: map[string]string{"terraform": "1.11"}, Missing: []string{"pulumi"},
	}
	for _, n := range []int{10, 100} {
		s := results.Sample{}
		for _, v := range times {
			s = append(s, v*float64(n))
		}
		k := results.Key{Case: "engine preview new", Shape: "wide", Size: n, Subject: results.Sluice}
		r.Results = append(r.Results,
			results.Result{
				Key: k, Runs: map[results.Metric]results.Sample{results.Time: s, results.Allocs: {5}}, Ideal: 0.5,
				Targets: []results.Target{{Metric: results.Time, Versus: results.Floor, AtMost: 2}}, Warnings: []string{"busy"},
			},
			results.Result{Key: k.Of(results.Floor), Runs: map[results.Metric]results.Sample{results.Time: {float64(n)}}})
	}
	return r
}

func written(t *testing.T, form string) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, Write(&b, form, report(1, 1.5, 3)))
	return b.String()
}

func TestATableHasFiguresGrowthAndWarnings(t *testing.T) {
	text := written(t, "table")
	for _, part := range []string{
		"commit abc, go1.26, linux/amd64, A|B × 4, load 0.25", "terraform 1.11", "not measured: pulumi", "medians of 3 runs", "15s (10s–30s)", "500ms",
		"ok 1.50 ≤ 2 × floor", "sec/op: n^1.00 (R² 1.000) over [10 100]", "engine preview new wide (10), sluice: busy",
	} {
		require.Contains(t, text, part)
	}
}

func TestMarkdownIsATable(t *testing.T) {
	var columns []int
	for line := range strings.Lines(written(t, "markdown")) {
		if strings.HasPrefix(line, "|") {
			columns = append(columns, strings.Count(line, "|"))
		}
	}
	require.Len(t, columns, 2+4)
	for _, n := range columns {
		require.Equal(t, columns[0], n)
	}
}

func TestCSVHasEveryRun(t *testing.T) {
	rows, err := csv.NewReader(strings.NewReader(written(t, "csv"))).ReadAll()
	require.NoError(t, err)
	require.Len(t, rows, 1+2*(3+1+1))
	require.Equal(t, []string{"abc", "A|B", "0", "go1.26, terraform 1.11", "engine preview new", "wide", "", "10", "sluice", "sec/op", "3", "30"}, rows[3])
}

func TestJSONIsTheReport(t *testing.T) {
	var r results.Report
	require.NoError(t, json.Unmarshal([]byte(written(t, "json")), &r))
	require.Equal(t, report(1, 1.5, 3).Results, r.Results)
}

func TestBenchstatReadsItsForm(t *testing.T) {
	text := written(t, "benchstat")
	require.Contains(t, text, "# commit abc, go1.26, linux/amd64, A|B × 4, load 0.25 for each\n# measured: terraform 1.11\n")
	reader := benchfmt.NewReader(strings.NewReader(text), "report")
	lines := 0
	for reader.Scan() {
		line, ok := reader.Result().(*benchfmt.Result)
		require.True(t, ok, "%v", reader.Result())
		lines++
		require.Empty(t, line.GetConfig("commit"), "benchstat would not compare two commits")
		if lines == 1 {
			require.Equal(t, "EnginePreviewNew/shape=wide/resources=10/who=sluice", line.Name.String())
			v, ok := line.Value("sec/op")
			require.True(t, ok)
			require.InDelta(t, 10, v, 0)
		}
	}
	require.NoError(t, reader.Err())
	require.Equal(t, 2*(3+1), lines)
}

func TestAnUnknownFormIsRefused(t *testing.T) {
	require.ErrorContains(t, Write(io.Discard, "pdf", report(1)), "-format is one of table, json, csv, markdown, benchstat")
}

func TestOnlySignificantLossesCount(t *testing.T) {
	base := []float64{100, 101, 102, 103, 104}
	times := func(by float64) *results.Report {
		var out []float64
		for _, v := range base {
			out = append(out, v*by)
		}
		return report(out...)
	}
	for name, c := range map[string]struct {
		newer  *results.Report
		losses int
		says   string
	}{
		"slower":            {times(1.2), 2, "worse"},
		"faster":            {times(0.8), 0, "better"},
		"the same":          {report(base...), 0, "~"},
		"slower by a bit":   {report(101.1, 102.2, 103.1, 104.1, 105.1), 0, "~"},
		"slower by 4 %":     {report(105.1, 105.5, 106, 106.5, 107), 0, "negligible"},
		"too few to be one": {report(200), 0, "too few runs"},
	} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			losses, err := Compare(&b, report(base...), c.newer)
			require.NoError(t, err)
			require.Equal(t, c.losses, losses, b.String())
			require.Contains(t, b.String(), c.says)
		})
	}
}

func TestMoreResourcesASecondAreBetter(t *testing.T) {
	rates := func(s results.Sample) *results.Report {
		return &results.Report{Results: []results.Result{{Key: results.Key{Case: "c"}, Runs: map[results.Metric]results.Sample{results.Rate: s}}}}
	}
	slow, fast := rates(results.Sample{1, 2, 3, 4, 5}), rates(results.Sample{11, 12, 13, 14, 15})
	losses, err := Compare(io.Discard, slow, fast)
	require.NoError(t, err)
	require.Zero(t, losses)
	losses, err = Compare(io.Discard, fast, slow)
	require.NoError(t, err)
	require.Equal(t, 1, losses)
}

func TestReportsWithNothingInCommonAreNotCompared(t *testing.T) {
	other := report(1)
	for i := range other.Results {
		other.Results[i].Case = "other"
	}
	var b bytes.Buffer
	_, err := Compare(&b, report(1), other)
	require.ErrorContains(t, err, "no case in common")
	require.Contains(t, b.String(), "is gone")
	require.Contains(t, b.String(), "is new")
}

func TestQuantitiesAreForPeople(t *testing.T) {
	require.Equal(t, "1.5ms", Quantity(results.Time, 0.0015))
	require.Equal(t, "12.35s", Quantity(results.Work, 12.345678))
	require.Equal(t, "2kB", Quantity(results.Peak, 2048))
	require.Equal(t, "3.5M", Quantity(results.Allocs, 3_500_000))
	require.Equal(t, "7", Quantity(results.Calls, 7))
}
