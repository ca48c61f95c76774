package formats

import (
	"fmt"
	"io"

	"github.com/sluice-iac/sluice/bench/internal/results"
)

// negligible is the change below which a significant one does not count as a loss: a warmer machine has the same effect.
const negligible = 0.05

// comparison is the comparison of two reports.
type comparison struct {
	older, newer     *results.Report
	compared, losses int
	few              bool
	all              bool     // unchanged figures are shown too
	unchanged        int      // figures that are not shown
	unbased          []string // cases whose times have no baseline in both reports
}

// Compare writes the differences between a report and an older one, and returns the number of figures of sluice that have become significantly
// worse. Times are never compared with each other, but their ratios to the baseline of the same report are; counts and sizes are compared as they are.
// It lists the cases that only one of the reports has.
func Compare(w io.Writer, older, newer *results.Report, l Layout) (losses int, err error) {
	if older.Machine.Processor != newer.Machine.Processor || older.Machine.Processors != newer.Machine.Processors {
		wrapped(w, l.Width, 2, fmt.Sprintf("the machines differ: %s × %d, now %s × %d; ratios may differ for this reason too",
			orUnknown(older.Machine.Processor), older.Machine.Processors, orUnknown(newer.Machine.Processor), newer.Machine.Processors))
	}
	fmt.Fprintf(w, "commit %s → %s\n", short(older.Commit), short(newer.Commit))
	wrapped(w, l.Width, 2, "Times are compared by their ratio to the baseline of the same report, counts and sizes as they are. Chance explains what is marked with ~.")
	c := &comparison{older: older, newer: newer, all: l.All}
	for _, name := range caseNames(newer) {
		g := grid{names: []string{"who", "size", "figure", "old", "new", "change", "p", ""}, repeated: 3, left: 1}
		for i := range newer.Results {
			if now := &newer.Results[i]; now.Name() == name && newer.Baseline(now.Key) != now.Subject {
				g.rows = append(g.rows, c.rows(now)...)
			}
		}
		if len(g.rows) > 0 {
			fmt.Fprintf(w, "\n%s\n", name)
			g.write(w, l.Width)
		}
	}
	gone := false
	for i := range older.Results {
		if k := older.Results[i].Key; newer.Find(k) == nil {
			if !gone {
				fmt.Fprintln(w)
			}
			gone = true
			fmt.Fprintf(w, "%s (%d), %s is gone\n", k.Name(), k.Size, k.Subject)
		}
	}
	if len(c.unbased) > 0 {
		fmt.Fprintln(w)
		for _, line := range c.unbased {
			wrapped(w, l.Width, 2, line)
		}
	}
	if c.compared == 0 {
		return 0, fmt.Errorf("the reports have no figure in common")
	}
	if c.unchanged > 0 {
		fmt.Fprintln(w)
		wrapped(w, l.Width, 2, fmt.Sprintf("%d other figures have not changed: -columns all shows them.", c.unchanged))
	}
	if c.few {
		fmt.Fprintln(w)
		wrapped(w, l.Width, 2, "warning: some cases have too few runs to show a change: -runs 5 or more")
	}
	return c.losses, nil
}

// rows compare a result with that of the older report.
func (c *comparison) rows(now *results.Result) [][]string {
	row := func(figure, old, new, change, p, note string) []string {
		return []string{now.Subject, sizeOf(now.Key), figure, old, new, change, p, note}
	}
	was := c.older.Find(now.Key)
	if was == nil {
		return [][]string{row("", "", "", "", "", "is new")}
	}
	base, before := c.newer.Baseline(now.Key), c.older.Baseline(now.Key)
	var rows [][]string
	for _, m := range results.Metrics() {
		old, new, figure := was.Runs[m], now.Runs[m], string(m)
		show := func(v float64) string { return Quantity(m, v) }
		switch {
		case m == results.Rate: // the ratio of the time says the same
			continue
		case m.Timed():
			if base == "" || base != before {
				if m == results.Time && len(new) > 0 {
					c.unbased = append(c.unbased, fmt.Sprintf("%s (%d), %s: its times are not compared, for want of the same baseline in both reports", now.Name(), now.Size, now.Subject))
				}
				continue
			}
			old, new, figure = c.older.Ratios(was, m), c.newer.Ratios(now, m), figure+" ÷ "+base
			show = func(v float64) string { return ratioOf(results.Sample{v}) }
		}
		if len(old) == 0 || len(new) == 0 {
			continue
		}
		c.compared++
		change := results.Compare(old, new)
		c.few = c.few || change.TooFew && change.Old != change.New
		note := c.note(now, m, change)
		if note == "~" && !c.all && m != results.Time && m != results.Work && m != results.Allocs {
			c.unchanged++
			continue
		}
		rows = append(rows, row(figure, show(change.Old), show(change.New), fmt.Sprintf("%+.1f %%", 100*(change.Ratio()-1)), fmt.Sprintf("%.3f", change.P), note))
	}
	return rows
}

// note says what a change is worth, and counts losses of sluice. Another program does not become worse through a change of this project.
func (c *comparison) note(of *results.Result, m results.Metric, change results.Change) string {
	switch worse := (change.Ratio() > 1) != m.MoreIsBetter(); {
	case !change.Significant():
		return "~"
	case worse && max(change.Ratio()-1, 1-change.Ratio()) > negligible:
		if of.Subject == results.Sluice {
			c.losses++
		}
		return "worse"
	case worse:
		return "negligible"
	}
	return "better"
}
