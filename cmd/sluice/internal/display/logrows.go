package display

import (
	"cmp"
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
		l.widths.fit(p.layout(), row.urn, cleanLine(row.urn.Name()))
		if len(l.cells) == 0 || row.compareCell(last) != 0 {
			l.cells = append(l.cells, logCell{})
		}
		last = row
		l.places[row.place] = len(l.cells) - 1
		l.cells[len(l.cells)-1].open++
	}
	return l
}

// printer returns the printer of the rows.
func (l *logRows) printer(p stepPrinter) rowPrinter { return rowPrinter{p, &l.widths, l.grouped} }

// expect widens the columns for a row that is not in the forecast, so that they fit when earlier rows are written.
func (l *logRows) expect(p stepPrinter, s stages.StepInfo) {
	if !l.foresee {
		l.widths.fit(p.layout(), s.URN, cleanLine(s.URN.Name()))
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

// replacement is the progress of a replacement while its steps run.
type replacement struct {
	whole   *stages.StepInfo // the step that stands for the whole
	made    bool             // the new object exists
	deleted *logRow          // set when the old object is deleted
	took    time.Duration
	written bool // the row is written
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
	if x.written || x.whole == nil || !x.made {
		return logRow{}, false
	}
	x.written = true
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
	early.written = true // with the other one
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
		case x.written:
		case x.deleted != nil:
			out = append(out, *x.deleted)
		case x.whole != nil && x.made:
			out = append(out, logRow{*x.whole, x.took})
		}
	}
	return out
}
