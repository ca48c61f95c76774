package formats

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"github.com/sluice-iac/sluice/bench/internal/results"
)

// column is a column of a table of results.
type column struct {
	name string
	main bool // it is in tables of the main columns
	of   func(r *results.Report, of *results.Result) string
}

// eachMetrics are those that tables show for each resource.
func eachMetrics() []results.Metric {
	return []results.Metric{results.Time, results.Allocs, results.Allocated}
}

// perResource is "sec/resource".
func perResource(m results.Metric) string {
	return strings.Replace(string(m), "/op", "/resource", 1)
}

// columns are those besides the size and the subject, the most important first.
func columns() []column {
	median := func(m results.Metric) func(*results.Report, *results.Result) string {
		return func(_ *results.Report, of *results.Result) string { return quantityOf(m, of.Runs[m]) }
	}
	each := func(m results.Metric) func(*results.Report, *results.Result) string {
		return func(_ *results.Report, of *results.Result) string { return quantityOf(m, of.PerResource(m)) }
	}
	ratio := func(m results.Metric) func(*results.Report, *results.Result) string {
		return func(r *results.Report, of *results.Result) string {
			if r.Baseline(of.Key) == of.Subject && len(of.Runs[m]) > 0 {
				return "1"
			}
			return ratioOf(r.Ratios(of, m))
		}
	}
	return []column{
		{"time", true, median(results.Time)},
		{"least–most", true, func(_ *results.Report, of *results.Result) string { return spread(of.Runs[results.Time]) }},
		{"ratio", true, ratio(results.Time)},
		{"time/res", true, each(results.Time)},
		{"allocs/res", true, each(results.Allocs)},
		{"B/res", true, each(results.Allocated)},
		{"peak-B", true, median(results.Peak)},
		{"cpu", false, median(results.Work)},
		{"cpu ratio", false, ratio(results.Work)},
		{"gc", false, collector},
		{"gcs", false, median(results.Collected)},
		{"goroutines", false, median(results.Goroutines)},
		{"calls", false, median(results.Calls)},
		{"fsyncs", false, median(results.Syncs)},
		{"written", false, median(results.Written)},
		{"res/sec", false, median(results.Rate)},
		{"p50", false, median(results.P50)},
		{"p95", false, median(results.P95)},
		{"p99", false, median(results.P99)},
		{"max", false, median(results.Slowest)},
	}
}

// collector is the share of the processor time that the garbage collector took.
func collector(_ *results.Report, of *results.Result) string {
	spent, all := of.Runs[results.Collector], of.Runs[results.Work]
	if len(spent) == 0 || all.Median() <= 0 {
		return ""
	}
	return fmt.Sprintf("%.0f %%", 100*min(1, spent.Median()/all.Median()))
}

func quantityOf(m results.Metric, s results.Sample) string {
	if len(s) == 0 {
		return ""
	}
	return Quantity(m, s.Median())
}

func ratioOf(s results.Sample) string {
	if len(s) == 0 {
		return ""
	}
	return strconv.FormatFloat(s.Median(), 'f', decimals(s.Median()), 64)
}

// decimals is how many digits after the point leave about three digits.
func decimals(v float64) int {
	switch {
	case v >= 100:
		return 0
	case v >= 10:
		return 1
	case v >= 0.1:
		return 2
	}
	return 4
}

// spread is the least and the most of a time, in the unit of its median.
func spread(s results.Sample) string {
	if len(s) < 2 {
		return ""
	}
	median, unit := s.Median(), 1.0
	for unit > 1e-9 && median < unit {
		unit /= 1000
	}
	least, most := s.Range()
	show := func(v float64) string {
		return strings.TrimSuffix(strings.TrimRight(strconv.FormatFloat(v/unit, 'f', decimals(v/unit), 64), "0"), ".")
	}
	if least/unit >= 100 {
		show = func(v float64) string { return strconv.FormatFloat(v/unit, 'f', 0, 64) }
	}
	return show(least) + "–" + show(most)
}

// grid is a table of texts. Each row has as many cells as there are names, and the first cells of a row are repeated if it is too long for a line.
type grid struct {
	names    []string
	repeated int // how many columns stand before each part of a row
	left     int // how many columns are aligned on the left
	rows     [][]string
}

// write writes the columns that have a text, in as many parts as the width needs.
func (g *grid) write(w io.Writer, width int) {
	const gap = 2
	widths := make([]int, len(g.names))
	for i, name := range g.names {
		for _, row := range g.rows {
			if row[i] != "" {
				widths[i] = max(widths[i], utf8.RuneCountInString(row[i]), utf8.RuneCountInString(name))
			}
		}
	}
	line := func(cells []string, parts []int) {
		var b strings.Builder
		for n, i := range parts {
			space := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cells[i]))
			b.WriteString(strings.Repeat(" ", gap))
			if i < g.left {
				b.WriteString(cells[i])
				if n < len(parts)-1 {
					b.WriteString(space)
				}
			} else {
				b.WriteString(space + cells[i])
			}
		}
		fmt.Fprintln(w, strings.TrimRight(b.String(), " "))
	}
	var before, part []int
	used := 0
	flush := func() {
		if len(part) == len(before) {
			return
		}
		line(g.names, part)
		for _, row := range g.rows {
			line(row, part)
		}
		part, used = slices.Clone(before), 0
		for _, i := range before {
			used += gap + widths[i]
		}
	}
	for i := range g.names {
		if widths[i] == 0 {
			continue
		}
		if i < g.repeated {
			before, part = append(before, i), append(part, i)
			used += gap + widths[i]
			continue
		}
		if used+gap+widths[i] > width {
			flush()
		}
		part, used = append(part, i), used+gap+widths[i]
	}
	flush()
}

// wrapped writes a line, the parts of which after the first are indented.
func wrapped(w io.Writer, width, indent int, text string) {
	space := strings.Repeat(" ", indent)
	for i, line := range strings.Split(ansi.Wordwrap(text, max(20, width-indent), ""), "\n") {
		if i > 0 {
			line = space + strings.TrimLeft(line, " ")
		}
		fmt.Fprintln(w, line)
	}
}

// table writes the results of each case together, with lines that fit into the width.
func table(w io.Writer, r *results.Report, l Layout) error {
	for _, line := range heading(r) {
		wrapped(w, l.Width, 2, line)
	}
	for _, name := range caseNames(r) {
		fmt.Fprintf(w, "\n%s\n", name)
		g := grid{names: []string{"who", "size"}, repeated: 2, left: 1}
		var shown []column
		for _, c := range columns() {
			if c.main || l.All {
				shown = append(shown, c)
				g.names = append(g.names, c.name)
			}
		}
		var notes []string
		for i := range r.Results {
			of := &r.Results[i]
			if of.Name() != name {
				continue
			}
			row := []string{of.Subject, sizeOf(of.Key)}
			for _, c := range shown {
				row = append(row, c.of(r, of))
			}
			g.rows = append(g.rows, row)
			notes = append(notes, verdicts(r, of)...)
		}
		g.write(w, l.Width)
		for _, note := range notes {
			wrapped(w, l.Width, 4, "  "+note)
		}
	}
	growth(w, r, l)
	warnings(w, r, l)
	return nil
}

func sizeOf(k results.Key) string {
	if k.Size == 0 {
		return ""
	}
	return strconv.Itoa(k.Size)
}

// caseNames are the names of the cases, in the order of the report.
func caseNames(r *results.Report) []string {
	var names []string
	seen := map[string]bool{}
	for i := range r.Results {
		if n := r.Results[i].Name(); !seen[n] {
			seen[n] = true
			names = append(names, n)
		}
	}
	return names
}

// verdicts compare a result with its targets, and with the ideal.
func verdicts(r *results.Report, of *results.Result) []string {
	who := of.Subject
	if of.Size > 0 {
		who = fmt.Sprintf("%s (%d)", who, of.Size)
	}
	var out []string
	if of.Ideal > 0 && len(of.Runs[results.Time]) > 0 {
		out = append(out, fmt.Sprintf("ideal: %s; %s takes %.2f times as long", Quantity(results.Time, of.Ideal), who, of.Runs[results.Time].Median()/of.Ideal))
	}
	for _, t := range of.Targets {
		verdict, judged := r.Verdict(of, t)
		switch {
		case verdict == "":
		case t.Versus == "":
			out = append(out, fmt.Sprintf("%s: %s of %s is %s; target at most %s", verdict, t.Metric, who, Quantity(t.Metric, judged), Quantity(t.Metric, t.AtMost)))
		default:
			out = append(out, fmt.Sprintf("%s: %s of %s is %.3g × %s; target at most %.3g", verdict, t.Metric, who, judged, t.Versus, t.AtMost))
		}
	}
	return out
}

// growth writes the growth of metrics, if several sizes were measured.
func growth(w io.Writer, r *results.Report, l Layout) {
	grown := r.Grown(Fitted()...)
	if len(grown) == 0 {
		return
	}
	fmt.Fprintln(w)
	wrapped(w, l.Width, 2, "Growth with the number of resources: n^1.00 is linear. R² says how well that fits, where it is below 0.99.")
	for len(grown) > 0 {
		key := grown[0].Key
		fmt.Fprintf(w, "\n%s\n", key.Name())
		g := grid{names: []string{"who"}, repeated: 1, left: 1}
		for _, m := range Fitted() {
			g.names = append(g.names, string(m))
		}
		for len(grown) > 0 && grown[0].Key.Name() == key.Name() {
			row := make([]string, len(g.names))
			row[0] = grown[0].Key.Subject
			for len(grown) > 0 && grown[0].Key.Name() == key.Name() && grown[0].Key.Subject == row[0] {
				for i, m := range Fitted() {
					if grown[0].Metric == m {
						row[i+1] = exponent(grown[0])
					}
				}
				grown = grown[1:]
			}
			g.rows = append(g.rows, row)
		}
		g.write(w, l.Width)
	}
}

func exponent(g results.Growth) string {
	text := fmt.Sprintf("n^%.2f", g.Exponent)
	if g.Fit < 0.99 {
		text += fmt.Sprintf(" (R² %.2f)", g.Fit)
	}
	return text
}

// Fitted are the metrics whose growth is shown.
func Fitted() []results.Metric {
	return []results.Metric{results.Time, results.Work, results.Allocs, results.Peak, results.Written, results.Calls}
}

// named is how many results a remark names.
const named = 5

// remarks are what makes a report doubtful: one line about a busy machine, and one about runs that are far from the others.
func remarks(r *results.Report) []string {
	var out []string
	if cases, most := r.Busy(); cases > 0 {
		out = append(out, fmt.Sprintf("the machine was busy: other programs used up to %.0f %% of the processors in %d of %d cases; trust ratios, and measure again when it is quiet",
			100*most, cases, r.Cases()))
	}
	if far := r.Outliers(); len(far) > 0 {
		text := "some runs are far from the others, in " + strings.Join(far[:min(named, len(far))], ", ")
		if len(far) > named {
			text += fmt.Sprintf(", and %d other results", len(far)-named)
		}
		out = append(out, text)
	}
	return out
}

func warnings(w io.Writer, r *results.Report, l Layout) {
	for i, line := range remarks(r) {
		if i == 0 {
			fmt.Fprintln(w, "\nWarnings")
		}
		wrapped(w, l.Width, 4, "- "+line)
	}
}

// markdown writes a row for each result, with all columns that have a text.
func markdown(w io.Writer, r *results.Report) error {
	all := columns()
	names, rows := []string{"case", "resources", "who"}, make([][]string, len(r.Results))
	for i := range r.Results {
		of := &r.Results[i]
		rows[i] = []string{of.Name(), sizeOf(of.Key), of.Subject}
	}
	for _, c := range all {
		var cells []string
		some := false
		for i := range r.Results {
			cells = append(cells, c.of(r, &r.Results[i]))
			some = some || cells[i] != ""
		}
		if !some {
			continue
		}
		names = append(names, c.name)
		for i := range rows {
			rows[i] = append(rows[i], cells[i])
		}
	}
	names = append(names, "target")
	for i := range rows {
		rows[i] = append(rows[i], strings.Join(verdicts(r, &r.Results[i]), "; "))
	}
	row := func(cells []string) string {
		for i := range cells {
			cells[i] = strings.ReplaceAll(cells[i], "|", `\|`)
		}
		return "| " + strings.Join(cells, " | ") + " |\n"
	}
	fmt.Fprintln(w, strings.Join(heading(r), "  \n"))
	fmt.Fprint(w, "\n", row(names), "|", strings.Repeat("---|", len(names)), "\n")
	for _, cells := range rows {
		fmt.Fprint(w, row(cells))
	}
	for i, g := range r.Grown(Fitted()...) {
		if i == 0 {
			fmt.Fprintln(w, "\nGrowth with the number of resources (n^1.00 is linear):")
			fmt.Fprintln(w)
		}
		fmt.Fprintf(w, "- %s, %s, %s: n^%.2f (R² %.3f) over %v\n", g.Key.Name(), g.Key.Subject, g.Metric, g.Exponent, g.Fit, g.Sizes)
	}
	for i, line := range remarks(r) {
		if i == 0 {
			fmt.Fprintln(w, "\nWarnings:")
			fmt.Fprintln(w)
		}
		fmt.Fprintln(w, "- "+line)
	}
	return nil
}
