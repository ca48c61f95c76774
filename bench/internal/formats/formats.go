package formats

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/perf/benchfmt"

	"github.com/sluice-iac/sluice/bench/internal/results"
)

// Names are the forms of a report.
func Names() []string {
	return []string{"table", "json", "csv", "markdown", "benchstat", "histograms", "timelines"}
}

// Layout is how a report is printed for people.
type Layout struct {
	Width int  // of lines, in cells
	All   bool // all columns of a table, not only the main ones
}

// Write writes a report in a form.
func Write(w io.Writer, form string, r *results.Report, l Layout) error {
	switch form {
	case "table":
		return table(w, r, l)
	case "histograms":
		return histograms(w, r, l)
	case "timelines":
		return timelines(w, r)
	case "json":
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(r)
	case "csv":
		return commas(w, r)
	case "markdown":
		return markdown(w, r)
	case "benchstat":
		return benchstat(w, r)
	}
	return fmt.Errorf("there is no form %q: -format is one of %s", form, strings.Join(Names(), ", "))
}

// heading describes the conditions of the figures in a table.
func heading(r *results.Report) []string {
	measured := "a single run of each"
	if n := runs(r); n > 1 {
		measured = fmt.Sprintf("medians of %d runs (least–most)", n)
	}
	return slices.Insert(circumstances(r), 1, measured)
}

// circumstances describes what was measured, and where.
func circumstances(r *results.Report) []string {
	m := r.Machine
	lines := []string{fmt.Sprintf("commit %s, %s, %s, %s × %d", short(r.Commit), m.Go, m.System, orUnknown(m.Processor), m.Processors)}
	if m.Load >= 0 {
		lines[0] += fmt.Sprintf(", load %.2f for each", m.Load)
	}
	if list := versions(r); len(list) > 0 {
		lines = append(lines, "measured: "+strings.Join(list, ", "))
	}
	if len(r.Missing) > 0 {
		lines = append(lines, "not on PATH, and so not measured: "+strings.Join(r.Missing, ", "))
	}
	return lines
}

// versions are those of the peers, as they say them.
func versions(r *results.Report) []string {
	var list []string
	for name, said := range r.Versions {
		if !strings.Contains(strings.ToLower(said), name) {
			said = name + " " + said
		}
		list = append(list, said)
	}
	slices.Sort(list)
	return list
}

// short shortens a commit, and keeps the words after it.
func short(commit string) string {
	hash, words, _ := strings.Cut(commit, " ")
	return strings.TrimSpace(hash[:min(12, len(hash))] + " " + words)
}

func orUnknown(s string) string {
	if s == "" {
		return "unknown processor"
	}
	return s
}

func runs(r *results.Report) int {
	most := 0
	for i := range r.Results {
		for _, s := range r.Results[i].Runs {
			most = max(most, len(s))
		}
	}
	return most
}

// Quantity writes a value of a metric for people.
func Quantity(m results.Metric, v float64) string {
	switch {
	case m.Timed() && m != results.Rate:
		return seconds(v)
	case m == results.Allocated || m == results.Peak || m == results.Written:
		return scaled(v, 1024) + "B"
	}
	return scaled(v, 1000)
}

func seconds(v float64) string {
	d := time.Duration(v * float64(time.Second))
	switch {
	case d >= time.Second: // no minutes: the least and the most are in the same unit
		return strconv.FormatFloat(math.Round(100*v)/100, 'g', max(4, len(strconv.Itoa(int(v)))), 64) + "s"
	case d >= time.Millisecond:
		return d.Round(time.Millisecond / 100).String()
	}
	return d.Round(time.Microsecond / 100).String()
}

func scaled(v, by float64) string {
	units := []string{"", "k", "M", "G", "T"}
	i := 0
	for v >= by && i < len(units)-1 {
		v, i = v/by, i+1
	}
	return strconv.FormatFloat(v, 'g', 4, 64) + units[i]
}

// commas writes a line for each run of each metric, with its ratio to the baseline's run beside it.
func commas(w io.Writer, r *results.Report) error {
	out := csv.NewWriter(w)
	used := strings.Join(append([]string{r.Machine.Go}, versions(r)...), ", ")
	all := [][]string{{"commit", "processor", "others", "versions", "case", "shape", "latency", "resources", "who", "metric", "run", "value", "ratio"}}
	for i := range r.Results {
		of := &r.Results[i]
		for _, m := range results.Metrics() {
			ratios := r.Ratios(of, m)
			for n, v := range of.Runs[m] {
				ratio := ""
				if n < len(ratios) {
					ratio = number(ratios[n])
				}
				all = append(all, []string{
					r.Commit, r.Machine.Processor, number(of.Others), used, of.Case, of.Shape, of.Latency, strconv.Itoa(of.Size), of.Subject, string(m), strconv.Itoa(n + 1), number(v),
					ratio,
				})
			}
		}
	}
	return out.WriteAll(all)
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// benchstat writes a line for each run, in the format of Go's benchmarks. It compares only equal configurations, so properties that may differ
// between two compared reports are in lines that benchstat ignores.
func benchstat(w io.Writer, r *results.Report) error {
	for _, line := range circumstances(r) {
		fmt.Fprintln(w, "# "+line)
	}
	out := benchfmt.NewWriter(w)
	goos, goarch, _ := strings.Cut(r.Machine.System, "/")
	config := func(key, value string) benchfmt.Config {
		return benchfmt.Config{Key: key, Value: []byte(value), File: true}
	}
	configs := []benchfmt.Config{
		config("goos", goos), config("goarch", goarch), config("pkg", "github.com/sluice-iac/sluice/bench"), config("cpu", orUnknown(r.Machine.Processor)),
	}
	for i := range r.Results {
		of := &r.Results[i]
		for n := range len(of.Runs[results.Time]) {
			line := benchfmt.Result{Config: configs, Name: benchfmt.Name(benchmarkName(of.Key)), Iters: 1}
			for _, m := range results.Metrics() {
				if s := of.Runs[m]; n < len(s) {
					line.Values = append(line.Values, benchfmt.Value{Value: s[n], Unit: string(m)})
				}
			}
			for _, m := range eachMetrics() {
				if s := of.PerResource(m); n < len(s) {
					line.Values = append(line.Values, benchfmt.Value{Value: s[n], Unit: perResource(m)})
				}
			}
			if s := r.Ratios(of, results.Time); n < len(s) {
				line.Values = append(line.Values, benchfmt.Value{Value: s[n], Unit: "ratio"})
			}
			if err := out.Write(&line); err != nil {
				return err
			}
		}
	}
	return nil
}

// benchmarkName is "EnginePreviewNew/shape=wide/resources=100/who=sluice".
func benchmarkName(k results.Key) string {
	var b strings.Builder
	for word := range strings.FieldsFuncSeq(k.Case, func(r rune) bool { return r == ' ' || r == ',' || r == '-' }) {
		b.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	for _, part := range [][2]string{{"shape", k.Shape}, {"latency", k.Latency}, {"resources", strconv.Itoa(k.Size)}, {"who", strings.ReplaceAll(k.Subject, " ", "-")}} {
		if part[1] != "" {
			b.WriteString("/" + part[0] + "=" + part[1])
		}
	}
	return b.String()
}
