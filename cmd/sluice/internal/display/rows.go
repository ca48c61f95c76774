package display

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

// rowPrinter formats rows that a log writes together, in columns. Columns never become narrower.
type rowPrinter struct {
	steps   stepPrinter
	widths  *columns
	grouped groupNames // the groups of all rows so far
}

// portion returns the lines of rows that are written together.
func (p rowPrinter) portion(rows []logRow) []string {
	compare := ByKindAndName()
	slices.SortStableFunc(rows, func(a, b logRow) int {
		return cmp.Or(compareBools(stages.Removes(a.step.Op), stages.Removes(b.step.Op)), compare(a.step.URN, b.step.URN))
	})
	groups := p.equalRows(rows)
	names := make([]string, len(groups))
	for i, g := range groups {
		names[i] = cleanLine(g[0].step.URN.Name())
		if len(g) > 1 {
			names[i] = fmt.Sprintf("%s (%d)", pattern(namesOf(g)), len(g))
		}
		p.widths.fit(p.steps.layout(), g[0].step.URN, names[i])
	}
	var out []string
	for i, g := range groups {
		first := g[0]
		if p.steps.Diff {
			out = append(out, strings.TrimSuffix(p.steps.layout().fitted(blockPrinter{p.steps}.text(first.step, 0)), "\n"))
		}
		said := p.steps.fate(first.step, first.took)
		if len(g) > 1 {
			said = p.steps.fate(p.grouped.shared(first.step), 0) + p.tookOf(g)
		}
		out = append(out, p.row(first.step, names[i], said))
	}
	return out
}

func compareBools(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// equalRows groups rows that differ only in their names, if there are many, and adds the groups to the known ones.
func (p rowPrinter) equalRows(rows []logRow) (all [][]logRow) {
	p.grouped.complete(func() (groups [][]urn.URN) {
		all = p.equalFates(rows)
		for _, g := range all {
			if len(g) > 1 {
				groups = append(groups, urnsOf(g))
			}
		}
		return groups
	})
	return all
}

// equalFates groups rows whose texts are equal, apart from names of their own and of known groups.
func (p rowPrinter) equalFates(rows []logRow) [][]logRow {
	apart := p.steps.ShowURNs || p.steps.ShowFullOutput || p.steps.Diff
	var looks []string
	of := map[string][]logRow{}
	for i, r := range rows {
		look := fmt.Sprint(r.step.Op, " ", r.step.URN.Type(), " ", stem(r.step.URN.Name()), " ", p.steps.fate(p.grouped.shared(r.step), 0))
		if apart {
			look = fmt.Sprint(i)
		}
		if _, known := of[look]; !known {
			looks = append(looks, look)
		}
		of[look] = append(of[look], r)
	}
	var out [][]logRow
	for _, look := range looks {
		if g := of[look]; len(g) >= minGroup {
			out = append(out, g)
			continue
		}
		for _, r := range of[look] {
			out = append(out, []logRow{r})
		}
	}
	return out
}

func urnsOf(g []logRow) []urn.URN {
	us := make([]urn.URN, len(g))
	for i, r := range g {
		us[i] = r.step.URN
	}
	return us
}

func namesOf(g []logRow) []string {
	names := make([]string, len(g))
	for i, r := range g {
		names[i] = r.step.URN.Name()
	}
	return names
}

// tookOf formats the range of the times that steps took, " (0.02s to 3s)".
func (p rowPrinter) tookOf(g []logRow) string {
	shortest, longest := g[0].took, g[0].took
	for _, r := range g {
		shortest, longest = min(shortest, r.took), max(longest, r.took)
	}
	if longest == 0 || p.steps.IsPreview {
		return ""
	}
	return fmt.Sprintf(" (%s to %s)", formatTook(shortest), formatTook(longest))
}

// row returns the row of a step in columns.
func (p rowPrinter) row(s stages.StepInfo, name, said string) string {
	w := wordsFor(s.Op)
	c := p.steps.layout().narrowed(*p.widths)
	subject := padded(p.steps.layout().shortened(shortType(s.URN.Type()), c.kinds), c.kinds) + " " + padded(name, c.names)
	if p.steps.ShowURNs {
		subject = cleanLine(string(s.URN))
	}
	return p.steps.layout().fitted(" " + p.steps.style.paint(w.colour, w.mark) + " " + subject + " " + said)
}
