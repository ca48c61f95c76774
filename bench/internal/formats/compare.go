package formats

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/sluice-iac/sluice/bench/internal/results"
)

// negligible is the change below which a significant one does not count as a loss: a warmer machine has the same effect.
const negligible = 0.05

// Compare writes the differences between a report and an older one, and returns the number of metrics that have become significantly worse. It
// lists the cases that only one of the reports has.
func Compare(w io.Writer, older, newer *results.Report) (losses int, err error) {
	if older.Machine.Processor != newer.Machine.Processor || older.Machine.Processors != newer.Machine.Processors {
		fmt.Fprintf(w, "warning: the machines differ: %s × %d, now %s × %d\n",
			orUnknown(older.Machine.Processor), older.Machine.Processors, orUnknown(newer.Machine.Processor), newer.Machine.Processors)
	}
	fmt.Fprintf(w, "commit %s → %s\n\n", older.Commit, newer.Commit)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "case\tresources\twho\tmetric\told\tnew\tchange\tp\t")
	compared, few := 0, false
	for i := range newer.Results {
		now := &newer.Results[i]
		was := older.Find(now.Key)
		if was == nil {
			fmt.Fprintf(t, "%s\t%d\t%s\t\t\t\tis new\t\t\n", now.Name(), now.Size, now.Subject)
			continue
		}
		for _, m := range results.Metrics() {
			if len(was.Runs[m]) == 0 || len(now.Runs[m]) == 0 {
				continue
			}
			compared++
			c := results.Compare(was.Runs[m], now.Runs[m])
			few = few || c.TooFew && c.Old != c.New
			note := ""
			switch worse := (c.Ratio() > 1) != m.MoreIsBetter(); {
			case !c.Significant():
				note = "~"
			case worse && abs(c.Ratio()-1) > negligible:
				note = "worse"
				losses++
			case worse:
				note = "negligible"
			default:
				note = "better"
			}
			fmt.Fprintf(t, "%s\t%d\t%s\t%s\t%s\t%s\t%+.1f %%\t%.3f\t%s\n",
				now.Name(), now.Size, now.Subject, m, Quantity(m, c.Old), Quantity(m, c.New), 100*(c.Ratio()-1), c.P, note)
		}
	}
	for i := range older.Results {
		if k := older.Results[i].Key; newer.Find(k) == nil {
			fmt.Fprintf(t, "%s\t%d\t%s\t\t\t\tis gone\t\t\n", k.Name(), k.Size, k.Subject)
		}
	}
	if err := t.Flush(); err != nil {
		return losses, err
	}
	if compared == 0 {
		return 0, fmt.Errorf("the reports have no case in common")
	}
	if few {
		fmt.Fprintln(w, "\nwarning: some cases have too few runs to show a change: -runs 5 or more")
	}
	return losses, nil
}

func abs(v float64) float64 { return max(v, -v) }
