package display

import (
	"fmt"

	"github.com/sluice-iac/sluice/property"
)

// compareArrays prints the items that differ: those that were added, removed, changed or moved among the others. What only has another index is not
// printed.
func (p *diffPrinter) compareArrays(depth int, at property.Path, old, new property.Array) {
	items, key := matchItems(old, new)
	printed, hidden := 0, 0
	for _, i := range items {
		if !i.moved && i.old != nowhere && i.new != nowhere && p.equal(old.At(i.old), new.At(i.new)) {
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
func (p *diffPrinter) item(depth int, at property.Path, old, new property.Array, i item, key string) {
	before := len(p.lines)
	switch {
	case i.old == nowhere && p.isHidden(at.With(property.Index(i.new))):
		p.line(depth, added, label{name: fmt.Sprintf("[%d]", i.new)}, "(hidden)")
	case i.new == nowhere && p.isHidden(at.With(property.Index(i.old))):
		p.line(depth, removed, label{name: fmt.Sprintf("[%d]", i.old)}, "(hidden)")
	case i.old == nowhere:
		at = at.With(property.Index(i.new))
		p.value(depth, added, label{name: fmt.Sprintf("[%d]", i.new), forces: p.forced.insideOrAt(at)}, new.At(i.new))
	case i.new == nowhere:
		at = at.With(property.Index(i.old))
		p.value(depth, removed, label{name: fmt.Sprintf("[%d]", i.old), forces: p.forced.insideOrAt(at)}, old.At(i.old))
	default:
		at = at.With(property.Index(i.new))
		was, is := old.At(i.old), new.At(i.new)
		l := label{name: fmt.Sprintf("[%d]", i.new)}
		if i.old != i.new {
			l.name = fmt.Sprintf("[%d → %d]", i.old, i.new)
		}
		if key != "" && property.Equal(was.AsMap().At(key), is.AsMap().At(key)) {
			l.name += " " + key + " " + p.scalar(is.AsMap().At(key))
		}
		if i.moved && p.equal(was, is) {
			p.movedItem(depth, l, at, is, key != "")
			return
		}
		if i.moved {
			l.name += " (moved)"
		}
		p.compare(depth, l, at, was, is)
		p.markForced(before, at)
	}
}

// movedItem prints an item that is the same as before, at another place. One that has a name needs no more.
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
