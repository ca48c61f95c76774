package display

import (
	"fmt"

	"github.com/sluice-iac/sluice/internal/comparison"
	"github.com/sluice-iac/sluice/property"
)

// compareArrays prints the items that differ: those that were added, removed, changed or moved relative to the others. It leaves out an item whose
// index alone has changed.
func (p *diffPrinter) compareArrays(depth int, at property.Path, old, new property.Array) {
	items, key := comparison.Items(old, new)
	printed, hidden := 0, 0
	for _, i := range items {
		if !i.Moved && i.Old != comparison.Nowhere && i.New != comparison.Nowhere && p.equal(old.At(i.Old), new.At(i.New)) {
			continue
		}
		if printed == maxElementsShown && !p.full {
			hidden++
			continue
		}
		printed++
		p.item(depth, at, old, new, i, key)
	}
	if hidden > 0 {
		p.more(depth, changed, hidden)
	}
}

// item prints one item that differs.
func (p *diffPrinter) item(depth int, at property.Path, old, new property.Array, i comparison.Item, key string) {
	before := len(p.lines)
	switch {
	case i.Old == comparison.Nowhere && p.isHidden(at.With(property.Index(i.New))):
		p.line(depth, added, label{name: fmt.Sprintf("[%d]", i.New)}, "(hidden)")
	case i.New == comparison.Nowhere && p.isHidden(at.With(property.Index(i.Old))):
		p.line(depth, removed, label{name: fmt.Sprintf("[%d]", i.Old)}, "(hidden)")
	case i.Old == comparison.Nowhere:
		at = at.With(property.Index(i.New))
		p.value(depth, added, label{name: fmt.Sprintf("[%d]", i.New), forces: p.forced.insideOrAt(at)}, new.At(i.New))
	case i.New == comparison.Nowhere:
		at = at.With(property.Index(i.Old))
		p.value(depth, removed, label{name: fmt.Sprintf("[%d]", i.Old), forces: p.forced.insideOrAt(at)}, old.At(i.Old))
	default:
		at = at.With(property.Index(i.New))
		was, is := old.At(i.Old), new.At(i.New)
		l := label{name: fmt.Sprintf("[%d]", i.New)}
		if i.Old != i.New {
			l.name = fmt.Sprintf("[%d → %d]", i.Old, i.New)
		}
		if key != "" && property.Equal(was.AsMap().At(key), is.AsMap().At(key)) {
			l.name += " " + key + " " + p.scalar(is.AsMap().At(key))
		}
		if i.Moved && p.equal(was, is) {
			p.movedItem(depth, l, at, is, key != "")
			return
		}
		if i.Moved {
			l.name += " (moved)"
		}
		p.compare(depth, l, at, was, is)
		p.markForced(before, at)
	}
}

// movedItem prints an unchanged item at another place. If it is named, its name is enough.
func (p *diffPrinter) movedItem(depth int, l label, at property.Path, v property.Value, named bool) {
	l.forces = p.forced.insideOrAt(at)
	if named || p.isHidden(at) {
		p.line(depth, changed, l, "moved")
		return
	}
	l.name += " (moved)"
	before := len(p.lines)
	p.value(depth, same, l, v)
	p.lines[before].mark = changed
}
