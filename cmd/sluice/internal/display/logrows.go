package display

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

// logRow is the row of a resource.
type logRow struct {
	step stages.StepInfo
	took time.Duration
}

// logRows decide when a log writes the rows of resources. With a forecast, they are written in its order, each when all rows before it are over, so
// that the log does not depend on timing. Without one, the rows that end within a second are written together. If the steps of replacements are
// shown, each step has a row, written when it ends.
type logRows struct {
	places  map[place]int // the cell of each expected row
	cells   []logCell
	next    int      // the first unwritten cell
	widths  columns  // of the rows expected and written so far
	others  []logRow // not in the forecast
	since   time.Time
	foresee bool
	atOnce  bool // each row is written at once
	grouped groupNames
}

// logCell holds rows that are written together, in any order.
type logCell struct {
	rows []logRow
	open int // expected rows that are not over
}

// page is the time for which rows are collected when there is no forecast.
const page = time.Second

// newLogRows returns the rows of a forecast, which may be nil.
func newLogRows(p stepPrinter, f *Forecast) logRows {
	l := logRows{places: map[place]int{}, grouped: groupNames{}, foresee: f != nil, atOnce: p.ShowReplacementSteps}
	if f == nil || l.atOnce {
		return l
	}
	var last foreseen
	for _, row := range f.ranked() {
		if !p.shows(row.step) {
			continue
		}
		l.widths.fit(p, row.urn, cleanLine(row.urn.Name()))
		if len(l.cells) == 0 || row.compareCell(last) != 0 {
			l.cells = append(l.cells, logCell{})
		}
		last = row
		l.places[row.place] = len(l.cells) - 1
		l.cells[len(l.cells)-1].open++
	}
	return l
}

// expect widens the columns for a row that is not in the forecast, so that they fit when earlier rows are written.
func (l *logRows) expect(p stepPrinter, s stages.StepInfo) {
	if !l.foresee {
		l.widths.fit(p, s.URN, cleanLine(s.URN.Name()))
	}
}

// end adds a row, and closes its place.
func (l *logRows) end(at place, row logRow, now time.Time) {
	i, expected := l.places[at]
	if !expected {
		if len(l.others) == 0 {
			l.since = now
		}
		l.others = append(l.others, row)
		return
	}
	l.cells[i].rows = append(l.cells[i].rows, row)
	l.close(at)
}

// close marks a place as one that gets no further row.
func (l *logRows) close(at place) {
	if i, expected := l.places[at]; expected {
		delete(l.places, at)
		l.cells[i].open--
	}
}

// ready returns the rows to write now, in portions. If end is set, it returns all.
func (l *logRows) ready(now time.Time, end bool) [][]logRow {
	var out [][]logRow
	for ; l.next < len(l.cells) && (end || l.cells[l.next].open == 0); l.next++ {
		if rows := l.cells[l.next].rows; len(rows) > 0 {
			out = append(out, rows)
		}
		l.cells[l.next].rows = nil
	}
	if l.atOnce {
		for _, row := range l.others {
			out = append(out, []logRow{row})
		}
		l.others = nil
	}
	if len(l.others) > 0 && (end || !l.foresee && now.Sub(l.since) >= page) {
		out = append(out, l.others)
		l.others = nil
	}
	return out
}

// portion returns the lines of rows that are written together. Columns never become narrower.
// grouped has the groups of earlier portions, and gets those of this one.
func (p stepPrinter) portion(rows []logRow, widths *columns, grouped groupNames) []string {
	compare := ByKindAndName()
	slices.SortStableFunc(rows, func(a, b logRow) int {
		return cmp.Or(compareBools(stages.Removes(a.step.Op), stages.Removes(b.step.Op)), compare(a.step.URN, b.step.URN))
	})
	groups := p.equalRows(rows, grouped)
	names := make([]string, len(groups))
	for i, g := range groups {
		names[i] = cleanLine(g[0].step.URN.Name())
		if len(g) > 1 {
			names[i] = fmt.Sprintf("%s (%d)", pattern(namesOf(g)), len(g))
		}
		widths.fit(p, g[0].step.URN, names[i])
	}
	var out []string
	for i, g := range groups {
		first := g[0]
		if p.Diff {
			out = append(out, strings.TrimSuffix(p.fitted(p.block(first.step, 0)), "\n"))
		}
		said := p.fate(first.step, first.took)
		if len(g) > 1 {
			said = p.fate(grouped.shared(first.step), 0) + p.tookOf(g)
		}
		out = append(out, p.alignedRow(first.step, names[i], said, *widths))
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

// equalRows groups rows that differ only in their names, if there are many. It adds the groups to grouped. A group may be the reason of
// others, so it looks until there are no more.
func (p stepPrinter) equalRows(rows []logRow, grouped groupNames) [][]logRow {
	for range maxChain {
		known := len(grouped)
		groups := p.equalFates(rows, grouped)
		for _, g := range groups {
			if len(g) > 1 {
				us := make([]urn.URN, len(g))
				for i, r := range g {
					us[i] = r.step.URN
				}
				grouped.add(us)
			}
		}
		if len(grouped) == known {
			return groups
		}
	}
	return p.equalFates(rows, grouped)
}

// equalFates groups rows whose texts are equal, apart from names of their own and of known groups.
func (p stepPrinter) equalFates(rows []logRow, grouped groupNames) [][]logRow {
	apart := p.ShowURNs || p.ShowFullOutput || p.Diff
	var looks []string
	of := map[string][]logRow{}
	for i, r := range rows {
		look := fmt.Sprint(r.step.Op, " ", r.step.URN.Type(), " ", stem(r.step.URN.Name()), " ", p.fate(grouped.shared(r.step), 0))
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

func namesOf(g []logRow) []string {
	names := make([]string, len(g))
	for i, r := range g {
		names[i] = r.step.URN.Name()
	}
	return names
}

// tookOf formats the range of the times that steps took, " (0.02s to 3s)".
func (p stepPrinter) tookOf(g []logRow) string {
	shortest, longest := g[0].took, g[0].took
	for _, r := range g {
		shortest, longest = min(shortest, r.took), max(longest, r.took)
	}
	if longest == 0 || p.IsPreview {
		return ""
	}
	return fmt.Sprintf(" (%s to %s)", formatTook(shortest), formatTook(longest))
}

// alignedRow returns the row of a step in columns.
func (p stepPrinter) alignedRow(s stages.StepInfo, name, said string, c columns) string {
	w := wordsFor(s.Op)
	c = p.narrowed(c)
	subject := padded(p.shortened(shortType(s.URN.Type()), c.kinds), c.kinds) + " " + padded(name, c.names)
	if p.ShowURNs {
		subject = cleanLine(string(s.URN))
	}
	return p.fitted(" " + p.style.paint(w.colour, w.mark) + " " + subject + " " + said)
}

// replacement is the progress of a replacement while its steps run.
type replacement struct {
	whole   *stages.StepInfo // the step that stands for the whole
	made    bool             // the new object exists
	deleted *logRow          // set when the old object is deleted
	took    time.Duration
	told    bool // the row is written
}

// replacements are the replacements of an operation, by resource.
type replacements struct {
	of    map[urn.URN]*replacement
	order []urn.URN
}

// take records the end of a step of a replacement. It returns the row of the whole when the new object exists.
func (r *replacements) take(s stages.StepInfo, took time.Duration) (row logRow, complete bool) {
	x := r.at(s.Resource())
	if former := s.FormerURN(); former != "" {
		r.absorb(former, x)
	}
	switch s.Op {
	case stages.OpReplace:
		x.whole = &s
	case stages.OpDeleteReplaced, stages.OpDiscardReplaced:
		x.deleted = &logRow{s, took}
	default:
		x.made = true
	}
	x.took += took
	if x.told || x.whole == nil || !x.made {
		return logRow{}, false
	}
	x.told = true
	return logRow{*x.whole, x.took}, true
}

// absorb takes over what is known about a replacement under the former URN of its resource: its old object may have been deleted before the
// program registered it.
func (r *replacements) absorb(former urn.URN, x *replacement) {
	early := r.of[former]
	if early == nil || early == x || early.whole != nil || early.made {
		return
	}
	x.deleted, x.took = cmp.Or(x.deleted, early.deleted), x.took+early.took
	early.told = true // with the other one
}

func (r *replacements) at(u urn.URN) *replacement {
	x := r.of[u]
	if x == nil {
		x = &replacement{}
		r.of[u] = x
		r.order = append(r.order, u)
	}
	return x
}

// left returns rows for the steps of replacements that have no row.
func (r *replacements) left() []logRow {
	var out []logRow
	for _, u := range r.order {
		switch x := r.of[u]; {
		case x.told:
		case x.deleted != nil:
			out = append(out, *x.deleted)
		case x.whole != nil && x.made:
			out = append(out, logRow{*x.whole, x.took})
		}
	}
	return out
}
