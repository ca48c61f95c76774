package formats

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"golang.org/x/perf/benchfmt"

	"github.com/sluice-iac/sluice/bench/internal/results"
)

// Names are the forms of a report.
func Names() []string { return []string{"table", "json", "csv", "markdown", "benchstat"} }

// Write writes a report in a form.
func Write(w io.Writer, form string, r *results.Report) error {
	switch form {
	case "table":
		return table(w, r)
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

// shown are the metrics of tables.
func shown() []results.Metric {
	return []results.Metric{results.Time, results.Work, results.Rate, results.Allocs, results.Peak, results.Syncs, results.Calls, results.P99}
}

// heading describes the conditions of the figures in a table.
func heading(r *results.Report) []string {
	return slices.Insert(circumstances(r), 1, "medians of "+strconv.Itoa(runs(r))+" runs (least–most)")
}

// circumstances describes what was measured, and where.
func circumstances(r *results.Report) []string {
	m := r.Machine
	lines := []string{fmt.Sprintf("commit %s, %s, %s, %s × %d", r.Commit, m.Go, m.System, orUnknown(m.Processor), m.Processors)}
	if m.Load >= 0 {
		lines[0] += fmt.Sprintf(", load %.2f for each", m.Load)
	}
	if list := versions(r); len(list) > 0 {
		lines = append(lines, "measured: "+strings.Join(list, ", "))
	}
	if len(r.Missing) > 0 {
		lines = append(lines, "not on PATH, and therefore not measured: "+strings.Join(r.Missing, ", "))
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

// cells are the columns of a result in tables.
func cells(r *results.Report, of *results.Result) []string {
	size := ""
	if of.Size > 0 {
		size = strconv.Itoa(of.Size)
	}
	out := []string{of.Name(), size, of.Subject}
	for _, m := range shown() {
		out = append(out, sample(m, of.Runs[m]))
	}
	ideal := ""
	if of.Ideal > 0 {
		ideal = Quantity(results.Time, of.Ideal)
	}
	var verdicts []string
	for _, t := range of.Targets {
		if verdict, judged := r.Verdict(of, t); verdict != "" {
			verdicts = append(verdicts, verdict+" "+target(t, judged))
		}
	}
	return append(out, ideal, strings.Join(verdicts, ", "))
}

func target(t results.Target, judged float64) string {
	if t.Versus == "" {
		return fmt.Sprintf("%s ≤ %s", Quantity(t.Metric, judged), Quantity(t.Metric, t.AtMost))
	}
	return fmt.Sprintf("%.2f ≤ %.3g × %s", judged, t.AtMost, t.Versus)
}

func columns() []string {
	out := []string{"case", "resources", "who"}
	for _, m := range shown() {
		out = append(out, string(m))
	}
	return append(out, "ideal", "target")
}

// sample formats the median of a metric, with the range for a time.
func sample(m results.Metric, s results.Sample) string {
	if len(s) == 0 {
		return ""
	}
	if m != results.Time || len(s) == 1 {
		return Quantity(m, s.Median())
	}
	least, most := s.Range()
	return fmt.Sprintf("%s (%s–%s)", Quantity(m, s.Median()), Quantity(m, least), Quantity(m, most))
}

// Quantity writes a value of a metric for people.
func Quantity(m results.Metric, v float64) string {
	switch {
	case m == results.Time || m == results.Work || m == results.P50 || m == results.P95 || m == results.P99:
		return seconds(v)
	case m == results.Allocated || m == results.Peak || m == results.Written:
		return scaled(v, 1024) + "B"
	}
	return scaled(v, 1000)
}

func seconds(v float64) string {
	d := time.Duration(v * float64(time.Second))
	for unit := time.Duration(1000); unit <= time.Second; unit *= 1000 {
		if d < 1000*unit || unit == time.Second {
			return d.Round(unit / 100).String()
		}
	}
	return d.String()
}

func scaled(v, by float64) string {
	units := []string{"", "k", "M", "G", "T"}
	i := 0
	for v >= by && i < len(units)-1 {
		v, i = v/by, i+1
	}
	return strconv.FormatFloat(v, 'g', 4, 64) + units[i]
}

func table(w io.Writer, r *results.Report) error {
	for _, line := range heading(r) {
		fmt.Fprintln(w, line)
	}
	fmt.Fprintln(w)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, strings.Join(columns(), "\t"))
	for i := range r.Results {
		fmt.Fprintln(t, strings.Join(cells(r, &r.Results[i]), "\t"))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	growth(w, r, "\n", "  ", "\n")
	warnings(w, r, "\n", "  ", "\n")
	return nil
}

func markdown(w io.Writer, r *results.Report) error {
	row := func(cells []string) string {
		for i := range cells {
			cells[i] = strings.ReplaceAll(cells[i], "|", `\|`)
		}
		return "| " + strings.Join(cells, " | ") + " |\n"
	}
	fmt.Fprintln(w, strings.Join(heading(r), "  \n"))
	fmt.Fprint(w, "\n", row(columns()), "|", strings.Repeat("---|", len(columns())), "\n")
	for i := range r.Results {
		fmt.Fprint(w, row(cells(r, &r.Results[i])))
	}
	growth(w, r, "\n", "- ", "\n")
	warnings(w, r, "\n", "- ", "\n")
	return nil
}

// growth writes the growth of metrics, if several sizes were measured.
func growth(w io.Writer, r *results.Report, before, mark, after string) {
	for i, g := range r.Grown(Fitted()...) {
		if i == 0 {
			fmt.Fprint(w, before, "growth with the number of resources (1 is linear; R² says how well it fits)\n", before)
		}
		fmt.Fprintf(w, "%s%s, %s, %s: n^%.2f (R² %.3f) over %v%s", mark, g.Key.Name(), g.Key.Subject, g.Metric, g.Exponent, g.Fit, g.Sizes, after)
	}
}

// Fitted are the metrics whose growth is shown.
func Fitted() []results.Metric {
	return []results.Metric{results.Time, results.Work, results.Allocs, results.Peak, results.Written, results.Calls}
}

func warnings(w io.Writer, r *results.Report, before, mark, after string) {
	first := true
	if cases, most := r.Busy(); cases > 0 {
		fmt.Fprint(w, before, "warnings\n", before)
		fmt.Fprintf(w, "%sthe machine was busy: other programs used up to %.0f %% of the processors in %d of %d cases; trust ratios, and measure again when it is quiet%s",
			mark, 100*most, cases, r.Cases(), after)
		first = false
	}
	for i := range r.Results {
		for _, warning := range r.Results[i].Warnings {
			if first {
				fmt.Fprint(w, before, "warnings\n", before)
				first = false
			}
			k := r.Results[i].Key
			fmt.Fprintf(w, "%s%s (%d), %s: %s%s", mark, k.Name(), k.Size, k.Subject, warning, after)
		}
	}
}

// commas writes a line for each run of each metric.
func commas(w io.Writer, r *results.Report) error {
	out := csv.NewWriter(w)
	used := strings.Join(append([]string{r.Machine.Go}, versions(r)...), ", ")
	all := [][]string{{"commit", "processor", "others", "versions", "case", "shape", "latency", "resources", "who", "metric", "run", "value"}}
	for i := range r.Results {
		of := &r.Results[i]
		for _, m := range results.Metrics() {
			for n, v := range of.Runs[m] {
				all = append(all, []string{
					r.Commit, r.Machine.Processor, number(of.Others), used, of.Case, of.Shape, of.Latency, strconv.Itoa(of.Size), of.Subject, string(m), strconv.Itoa(n + 1), number(v),
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
