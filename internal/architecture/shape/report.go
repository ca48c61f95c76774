package shape

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
)

// shown is the share of its limit from which a size appears in a report without all.
const shown = 0.5

// Report writes the sizes as a table, the worst first, and then the knots above the limit, each with needs without which
// it would be within the limit. If all is true, it writes every size, every knot, and all of these needs.
func Report(w io.Writer, packages []Package, all bool) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "SIZE\tLIMIT\t\tWHAT\tWHERE")
	for _, s := range Sizes(packages) {
		if !all && s.Share() < shown || s.Size <= 1 {
			continue
		}
		mark := ""
		if s.Above() {
			mark = "above"
		}
		fmt.Fprintf(table, "%d\t%d\t%s\t%s\t%s\n", s.Size, s.Limit, mark, s.What, s.Where)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	for _, p := range packages {
		if knot := p.Knot(); len(knot) > p.KnotLimit() || all && len(knot) > 1 {
			if err := reportKnot(w, p, all); err != nil {
				return err
			}
		}
	}
	return nil
}

func reportKnot(w io.Writer, p Package, all bool) error {
	const (
		cutsShown  = 12
		namesShown = 6
	)
	var b strings.Builder
	knot := p.Knot()
	fmt.Fprintf(&b, "\n%s: %d of %d files need each other, the limit is %d\n  %s\n", p.Path, len(knot), len(p.Files), p.KnotLimit(), strings.Join(knot, " "))
	if cuts := p.Cuts(); len(cuts) > 0 {
		shown := cuts
		if !all {
			shown = cuts[:min(len(cuts), cutsShown)]
		}
		fmt.Fprintf(&b, "  it would be within the limit without these needs (%d):\n", len(cuts))
		for _, n := range shown {
			names := slices.Clone(n.Names)
			if more := len(names) - namesShown; more > 0 && !all {
				names = append(names[:namesShown], fmt.Sprintf("and %d more", more))
			}
			fmt.Fprintf(&b, "    %s needs %s %d times: %s\n", n.From, n.To, n.Refs, strings.Join(names, ", "))
		}
		if more := len(cuts) - len(shown); more > 0 {
			fmt.Fprintf(&b, "    and %d more\n", more)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}
