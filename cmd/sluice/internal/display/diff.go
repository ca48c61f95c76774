package display

import (
	"fmt"
	"slices"

	"github.com/sluice-iac/sluice/internal/text/comparison"
	"github.com/sluice-iac/sluice/property"
)

// diffPrinter prints the differences between values.
type diffPrinter struct {
	out    *lineWriter
	format *scalarFormat
	values *valuePrinter
	hidden []property.Path // only their names are shown
}

func newDiffPrinter(showSecrets, full bool) *diffPrinter {
	out, format := &lineWriter{}, &scalarFormat{showSecrets: showSecrets, full: full}
	return &diffPrinter{out: out, format: format, values: &valuePrinter{out: out, format: format}}
}

// compareArrays prints the items that differ: those that were added, removed, changed or moved relative to the others. It leaves out an item whose
// index alone has changed.
func (p *diffPrinter) compareArrays(depth int, at property.Path, old, new property.Array) {
	items, key := comparison.Items(old, new)
	printed, hidden := 0, 0
	for _, i := range items {
		if !i.Moved && i.Old != comparison.Nowhere && i.New != comparison.Nowhere && p.equal(old.At(i.Old), new.At(i.New)) {
			continue
		}
		if printed == maxElementsShown && !p.format.full {
			hidden++
			continue
		}
		printed++
		p.item(depth, at, old, new, i, key)
	}
	if hidden > 0 {
		p.out.more(depth, changed, hidden)
	}
}

// item prints one item that differs.
func (p *diffPrinter) item(depth int, at property.Path, old, new property.Array, i comparison.Item, key string) {
	before := len(p.out.lines)
	switch {
	case i.Old == comparison.Nowhere && p.isHidden(at.With(property.Index(i.New))):
		p.out.line(depth, added, label{name: fmt.Sprintf("[%d]", i.New)}, "(hidden)")
	case i.New == comparison.Nowhere && p.isHidden(at.With(property.Index(i.Old))):
		p.out.line(depth, removed, label{name: fmt.Sprintf("[%d]", i.Old)}, "(hidden)")
	case i.Old == comparison.Nowhere:
		at = at.With(property.Index(i.New))
		p.values.print(depth, added, label{name: fmt.Sprintf("[%d]", i.New), forces: p.values.forced.insideOrAt(at)}, new.At(i.New))
	case i.New == comparison.Nowhere:
		at = at.With(property.Index(i.Old))
		p.values.print(depth, removed, label{name: fmt.Sprintf("[%d]", i.Old), forces: p.values.forced.insideOrAt(at)}, old.At(i.Old))
	default:
		at = at.With(property.Index(i.New))
		was, is := old.At(i.Old), new.At(i.New)
		l := label{name: fmt.Sprintf("[%d]", i.New)}
		if i.Old != i.New {
			l.name = fmt.Sprintf("[%d → %d]", i.Old, i.New)
		}
		if key != "" && property.Equal(was.AsMap().At(key), is.AsMap().At(key)) {
			l.name += " " + key + " " + p.format.scalar(is.AsMap().At(key))
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
	l.forces = p.values.forced.insideOrAt(at)
	if named || p.isHidden(at) {
		p.out.line(depth, changed, l, "moved")
		return
	}
	l.name += " (moved)"
	before := len(p.out.lines)
	p.values.print(depth, same, l, v)
	p.out.lines[before].mark = changed
}

// compare prints the difference between two values. It prints nothing if they are equal.
func (p *diffPrinter) compare(depth int, l label, at property.Path, old, new property.Value) {
	if p.equal(old, new) {
		return
	}
	if p.isHidden(at) {
		p.out.add(depth, changed, cleanLine(at.String())+" (hidden)")
		return
	}
	l.forces = l.forces || p.values.forced.isAt(at)
	if !p.format.exact && (old.IsNull() || new.IsNull()) {
		p.compareWithNothing(depth, l, at, old, new)
		return
	}
	if !p.format.showSecrets && (isSecret(old) || isSecret(new)) {
		if isUndecided(old) || isUndecided(new) { // an unknown gives nothing away
			p.scalars(depth, l, old, new, "")
			return
		}
		p.out.spans(depth, changed, l, span{text: maskedText, colour: red}, span{text: arrow, colour: grey}, span{text: maskedText, colour: green},
			span{text: secrecy(old, new)})
		return
	}
	oldInner, oldShown := visible(old, p.format.showSecrets)
	newInner, newShown := visible(new, p.format.showSecrets)
	if !oldShown || !newShown || !p.format.exact && property.Equal(oldInner, newInner) {
		p.scalars(depth, l, old, new, secrecy(old, new))
		return
	}
	p.compareShown(depth, l, at, oldInner, newInner)
}

func (p *diffPrinter) compareWithNothing(depth int, l label, at property.Path, old, new property.Value) {
	l.forces = l.forces || p.values.forced.insideOrAt(at)
	if old.IsNull() {
		p.values.print(depth, added, l, new)
	} else {
		p.values.print(depth, removed, l, old)
	}
}

func (p *diffPrinter) equal(old, new property.Value) bool {
	if p.format.exact {
		return property.Identical(old, new)
	}
	return property.Equal(old, new)
}

// scalars prints two values on one line.
func (p *diffPrinter) scalars(depth int, l label, old, new property.Value, note string) {
	p.out.spans(depth, changed, l, span{text: p.format.scalar(old), colour: red}, span{text: arrow, colour: grey}, span{text: p.format.scalar(new), colour: green},
		span{text: note})
}

func (p *diffPrinter) compareShown(depth int, l label, at property.Path, old, new property.Value) {
	switch {
	case depth >= maxDepthShown:
		p.scalars(depth, l, old, new, " (they differ deeper inside)")
	case old.IsMap() && new.IsMap():
		p.out.line(depth, changed, l, "{")
		p.compareMaps(depth+1, at, old.AsMap(), new.AsMap(), nil)
		p.out.add(depth, same, "}")
	case old.IsArray() && new.IsArray():
		p.out.line(depth, changed, l, "[")
		p.compareArrays(depth+1, at, old.AsArray(), new.AsArray())
		p.out.add(depth, same, "]")
	case comparison.IsCollection(old) || comparison.IsCollection(new):
		l.forces = l.forces || p.values.forced.insideOrAt(at)
		p.values.print(depth, removed, l, old)
		p.values.print(depth, added, l, new)
	case old.IsString() && new.IsString():
		if !p.compareDocuments(depth, l, at, old.AsString(), new.AsString()) {
			textDiff{p.out, depth, l, excerpts{p.format.full}}.print(old.AsString(), new.AsString())
		}
	default:
		p.scalars(depth, l, old, new, "")
	}
}

// compareMaps prints the properties that differ. If only is not nil, it prints only these.
func (p *diffPrinter) compareMaps(depth int, at property.Path, old, new property.Map, only []string) {
	names := slices.DeleteFunc(namesOfBoth(old, new), func(name string) bool {
		return !p.format.exact && property.IsInternalName(name) || only != nil && !slices.Contains(only, name) || p.equalAt(old, new, name)
	})
	width := labelWidth(names)
	for i, name := range names {
		if i == maxElementsShown && !p.format.full {
			p.out.more(depth, changed, len(names)-i)
			return
		}
		p.values.enter(at, name)
		p.compareAt(depth, label{name: padName(name, width)}, at.With(property.Key(name)), old, new, name)
	}
}

// namesOfBoth returns the sorted names of the properties that at least one of two objects has.
func namesOfBoth(old, new property.Map) []string {
	names := slices.Concat(old.Names(), new.Names())
	slices.Sort(names)
	return slices.Compact(names)
}

// equalAt reports whether two objects have the same property, or both lack it.
func (p *diffPrinter) equalAt(old, new property.Map, name string) bool {
	was, inOld := old.Get(name)
	is, inNew := new.Get(name)
	return (!p.format.exact || inOld == inNew) && p.equal(was, is)
}

// compareAt compares the values of one name in two objects. In a document, a missing value differs from null.
func (p *diffPrinter) compareAt(depth int, l label, at property.Path, old, new property.Map, name string) {
	was, inOld := old.Get(name)
	is, inNew := new.Get(name)
	before := len(p.out.lines)
	switch {
	case p.format.exact && !inOld:
		p.values.print(depth, added, l, is)
	case p.format.exact && !inNew:
		p.values.print(depth, removed, l, was)
	default:
		p.compare(depth, l, at, was, is)
	}
	p.markForced(before, at)
}

// markForced marks the first line of a property if a change inside it forces a replacement and no line has such a mark.
func (p *diffPrinter) markForced(from int, at property.Path) {
	lines := p.out.lines[from:]
	if len(lines) == 0 || lines[0].label.name == "" || !p.values.forced.insideOrAt(at) || slices.ContainsFunc(lines, func(l line) bool { return l.label.forces }) {
		return
	}
	lines[0].label.forces = true
}

func (p *diffPrinter) isHidden(at property.Path) bool {
	return slices.ContainsFunc(p.hidden, func(h property.Path) bool { return h.Contains(at) })
}

// compareDocuments compares two texts by value if both hold documents, and reports whether it has done so.
func (p *diffPrinter) compareDocuments(depth int, l label, at property.Path, old, new string) bool {
	was, ok := comparison.DocumentIn(old)
	if !ok {
		return false
	}
	is, ok := comparison.DocumentIn(new)
	if !ok || was.Value.IsMap() != is.Value.IsMap() {
		return false
	}
	l.what = "(" + is.Format + ")"
	if was.Format != is.Format {
		l.what = "(" + was.Format + arrow + is.Format + ")"
	}
	if property.Identical(was.Value, is.Value) {
		p.out.line(depth, changed, l, onlyFormat(was, is))
		return true
	}
	p.format.exactly(func() { p.compareShown(depth, l, at, was.Value, is.Value) })
	return true
}
