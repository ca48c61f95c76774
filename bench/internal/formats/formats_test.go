package formats

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

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
				Targets: []results.Target{{Metric: results.Time, Versus: results.Floor, AtMost: 2}},
			},
			results.Result{Key: k.Of(results.Floor), Runs: map[results.Metric]results.Sample{results.Time: slices.Repeat(results.Sample{float64(n)}, len(s))}})
	}
	return r
}

// narrow is a window of the usual width.
var narrow = Layout{Width: 80}

func written(t *testing.T, form string) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, Write(&b, form, report(1, 1.5, 3), narrow))
	return b.String()
}

func TestATableHasFiguresGrowthAndWarnings(t *testing.T) {
	text := written(t, "table")
	for _, part := range []string{
		"commit abc, go1.26, linux/amd64, A|B × 4, load 0.25", "terraform 1.11", "not measured: pulumi", "medians of 3 runs",
		`
engine preview new wide
  who     size  time  least–most  ratio  time/res  allocs/res
  sluice    10   15s       10–30   1.50      1.5s         0.5
  floor     10   10s       10–10      1        1s
  sluice   100  150s     100–300   1.50      1.5s        0.05
  floor    100  100s     100–100      1        1s
`,
		"ideal: 500ms; sluice (10) takes 30.00 times as long", "ok: sec/op of sluice (10) is 1.5 × floor; target at most 2",
		`
  who     sec/op  allocs/op
  sluice  n^1.00     n^0.00
  floor   n^1.00
`,
	} {
		require.Contains(t, text, strings.TrimPrefix(part, "\n"))
	}
}

func TestLinesFitIntoTheWindow(t *testing.T) {
	r := report(1, 1.5, 3, 1, 1, 1, 90)
	for i := range r.Results {
		of := &r.Results[i]
		for _, m := range results.Metrics() {
			of.Runs[m] = results.Sample{1, 2, 3}
		}
		of.Others = 0.5
		of.Latencies = &results.Latencies{}
		for n := range 10_000 {
			of.Latencies.Record(time.Duration(n*n) * time.Microsecond)
		}
	}
	for _, width := range []int{60, 80, 120} {
		for _, form := range []string{"table", "histograms"} {
			var b bytes.Buffer
			require.NoError(t, Write(&b, form, r, Layout{Width: width, All: true}))
			for line := range strings.Lines(b.String()) {
				require.LessOrEqual(t, utf8.RuneCountInString(strings.TrimSuffix(line, "\n")), width, line)
			}
		}
	}
}

func TestDoubtsAreTwoRemarks(t *testing.T) {
	r := report(1, 1.5, 3, 1, 1, 1, 90)
	for i := range r.Results {
		r.Results[i].Others = 0.3
	}
	var b bytes.Buffer
	require.NoError(t, Write(&b, "table", r, Layout{Width: 200}))
	require.Contains(t, b.String(), `
Warnings
- the machine was busy: other programs used up to 30 % of the processors in 2 of 2 cases; trust ratios, and measure again when it is quiet
- some runs are far from the others, in engine preview new wide 10 sluice, engine preview new wide 100 sluice
`)
}

func TestHistogramsHaveABarForEachInterval(t *testing.T) {
	r := report(1)
	require.ErrorContains(t, Write(io.Discard, "histograms", r, narrow), "has no histograms")
	require.ErrorContains(t, Write(io.Discard, "timelines", r, narrow), "has no timelines")
	l := &results.Latencies{}
	for _, ms := range []int{3, 3, 3, 3, 7, 20} {
		l.Record(time.Duration(ms) * time.Millisecond)
	}
	r.Results[0].Latencies = l
	r.Results[0].Timeline = []results.Moment{{At: 0, Memory: 5}, {At: 0.5, Memory: 7, Live: 3, Goal: 8, Goroutines: 2, Collections: 1, Collector: 0.25}}
	var b bytes.Buffer
	require.NoError(t, Write(&b, "histograms", r, narrow))
	bars := strings.Split(strings.TrimSpace(b.String()), "\n")[3:]
	require.Len(t, bars, 4, b.String())
	require.Contains(t, bars[0], "66.7 %")
	require.NotContains(t, bars[2], "█")
	b.Reset()
	require.NoError(t, Write(&b, "timelines", r, narrow))
	require.Equal(t, `case,shape,latency,resources,who,at-sec,memory-B,live-B,goal-B,goroutines,gcs,gc-cpu-sec
engine preview new,wide,,10,sluice,0,5,0,0,0,0,0
engine preview new,wide,,10,sluice,0.5,7,3,8,2,1,0.25
`, b.String())
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
	require.Len(t, rows, 1+2*(3+1+3))
	require.Equal(t, []string{"abc", "A|B", "0", "go1.26, terraform 1.11", "engine preview new", "wide", "", "10", "sluice", "sec/op", "3", "30", "3"}, rows[3])
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
			v, ok = line.Value("sec/resource")
			require.True(t, ok)
			require.InDelta(t, 1, v, 0)
			v, ok = line.Value("ratio")
			require.True(t, ok)
			require.InDelta(t, 1, v, 0)
		}
	}
	require.NoError(t, reader.Err())
	require.Equal(t, 2*(3+3), lines)
}

func TestAnUnknownFormIsRefused(t *testing.T) {
	require.ErrorContains(t, Write(io.Discard, "pdf", report(1), narrow), "-format is one of table, json, csv, markdown, benchstat, histograms, timelines")
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
			losses, err := Compare(&b, report(base...), c.newer, narrow)
			require.NoError(t, err)
			require.Equal(t, c.losses, losses, b.String())
			require.Contains(t, b.String(), c.says)
		})
	}
}

// A machine that has become slower makes everything slower: the ratios stay. Counts are the same on every machine.
func TestTimesAreComparedByTheirRatios(t *testing.T) {
	base := []float64{100, 101, 102, 103, 104}
	slower := report(base...)
	for i := range slower.Results {
		s := slower.Results[i].Runs[results.Time]
		for n := range s {
			s[n] *= 3
		}
	}
	var b bytes.Buffer
	losses, err := Compare(&b, report(base...), slower, narrow)
	require.NoError(t, err)
	require.Zero(t, losses, b.String())
	require.Contains(t, b.String(), "sec/op ÷ floor")

	without := func(times ...float64) *results.Report {
		r := report(times...)
		r.Results = slices.DeleteFunc(r.Results, func(of results.Result) bool { return of.Subject == results.Floor })
		return r
	}
	b.Reset()
	losses, err = Compare(&b, without(base...), without(500, 501, 502, 503, 504), Layout{Width: 200})
	require.NoError(t, err)
	require.Zero(t, losses, "no times are compared without a baseline")
	require.Contains(t, b.String(), "engine preview new wide (10), sluice: its times are not compared")
	require.Contains(t, b.String(), "allocs/op")
}

func TestAPeerCannotLose(t *testing.T) {
	with := func(s ...float64) *results.Report {
		r := report(1, 1, 1, 1, 1)
		k := r.Results[0].Of("pulumi")
		r.Results = append(r.Results, results.Result{Key: k, Runs: map[results.Metric]results.Sample{results.Time: s}})
		return r
	}
	var b bytes.Buffer
	losses, err := Compare(&b, with(1, 2, 3, 4, 5), with(11, 12, 13, 14, 15), narrow)
	require.NoError(t, err)
	require.Zero(t, losses)
	require.Contains(t, b.String(), "worse")
}

func TestReportsWithNothingInCommonAreNotCompared(t *testing.T) {
	other := report(1)
	for i := range other.Results {
		other.Results[i].Case = "other"
	}
	var b bytes.Buffer
	_, err := Compare(&b, report(1), other, narrow)
	require.ErrorContains(t, err, "no figure in common")
	require.Contains(t, b.String(), "is gone")
	require.Contains(t, b.String(), "is new")
}

func TestQuantitiesAreForPeople(t *testing.T) {
	require.Equal(t, "1.5ms", Quantity(results.Time, 0.0015))
	require.Equal(t, "12.35s", Quantity(results.Work, 12.345678))
	require.Equal(t, "2kB", Quantity(results.Peak, 2048))
	require.Equal(t, "3.5M", Quantity(results.Allocs, 3_500_000))
	require.Equal(t, "12346s", Quantity(results.Work, 12345.678))
	require.Equal(t, "150s", Quantity(results.Work, 150))
	require.Equal(t, "3.5µs", Quantity(results.P99, 3.5e-6))
	require.Equal(t, "7", Quantity(results.Calls, 7))
}
