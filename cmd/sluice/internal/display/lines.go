package display

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/sluice-iac/sluice/internal/comparison"
	"github.com/sluice-iac/sluice/property"
)

// Limits on the shown part of one value, unless the user has requested everything.
const (
	maxTextShown     = 150 // characters of one text
	maxTextLines     = 3
	maxElementsShown = 40
	maxDepthShown    = comparison.MaxNesting
)

// diffPrinter collects lines of values and their differences.
type diffPrinter struct {
	showSecrets bool
	full        bool            // do not cut
	hidden      []property.Path // only their names are shown
	forced      forcedPaths
	waits       func(name string) string // describes what the unknowns of a property wait for; nil if that is unknown
	property    string                   // the property that is being printed
	entered     map[string]bool          // the properties so far
	exact       bool                     // null is a value, as in JSON, and not a missing property
	lines       []line
}

// add adds a line without a value.
func (p *diffPrinter) add(depth int, m mark, text string) {
	p.spans(depth, m, label{}, span{text: text})
}

func (p *diffPrinter) spans(depth int, m mark, l label, spans ...span) {
	p.lines = append(p.lines, line{depth, m, l, spans})
}

// line adds a line with a label.
func (p *diffPrinter) line(depth int, m mark, l label, text string) {
	p.spans(depth, m, l, span{text: text})
}

// more adds a line that counts the values left out.
func (p *diffPrinter) more(depth int, m mark, n int) {
	p.add(depth, m, fmt.Sprintf("... and %d more", n))
}

// value prints a whole value with a label.
func (p *diffPrinter) value(depth int, m mark, l label, v property.Value) {
	inner, shown := visible(v, p.showSecrets)
	if !shown {
		p.line(depth, m, l, maskedText)
		return
	}
	switch {
	case depth >= maxDepthShown:
		p.line(depth, m, l, p.scalar(inner))
	case inner.IsArray() && inner.AsArray().Len() > 0:
		p.line(depth, m, l, "[")
		p.elements(depth, m, inner.AsArray())
		p.add(depth, same, "]")
	case inner.IsMap() && inner.AsMap().Len() > 0:
		p.line(depth, m, l, "{")
		p.fields(depth+1, m, nil, inner.AsMap())
		p.add(depth, same, "}")
	case inner.IsArchive() && inner.AsArchive().Kind == property.KindMembers:
		p.line(depth, m, l, p.scalar(inner)+" {")
		p.fields(depth+1, m, nil, inner.AsArchive().Members)
		p.add(depth, same, "}")
	default:
		if d, ok := embeddedValue(inner); ok && d.Format == "JSON" {
			l.what = "(JSON)"
			p.exactly(func() { p.value(depth, m, l, d.Value) })
			return
		}
		p.line(depth, m, l, p.scalar(inner))
	}
}

// embeddedValue parses the document in a text value.
func embeddedValue(v property.Value) (comparison.Document, bool) {
	if !v.IsString() {
		return comparison.Document{}, false
	}
	return comparison.DocumentIn(v.AsString())
}

// exactly prints the inside of a document.
func (p *diffPrinter) exactly(print func()) {
	before := p.exact
	p.exact = true
	print()
	p.exact = before
}

func (p *diffPrinter) elements(depth int, m mark, a property.Array) {
	for i, e := range a.All() {
		if i == maxElementsShown && !p.full {
			p.more(depth+1, m, a.Len()-i)
			return
		}
		p.value(depth+1, m, label{name: fmt.Sprintf("[%d]", i)}, e)
	}
}

// fields prints the properties of an object at a path. The path is nil inside a value that is printed as a whole.
func (p *diffPrinter) fields(depth int, m mark, at property.Path, o property.Map) {
	names := p.shownNames(o)
	width := labelWidth(names)
	for i, name := range names {
		if i == maxElementsShown && !p.full {
			p.more(depth, m, len(names)-i)
			return
		}
		l := label{name: padName(name, width)}
		if at != nil {
			p.enter(at, name)
			l.forces = p.forced.insideOrAt(at.With(property.Key(name)))
		}
		p.value(depth, m, l, o.At(name))
	}
}

// enter records the property that is printed next, if at is the path of all properties of the resource.
func (p *diffPrinter) enter(at property.Path, name string) {
	if len(at) > 0 {
		return
	}
	if p.entered == nil {
		p.entered = map[string]bool{}
	}
	p.property, p.entered[name] = name, true
}

// shownNames returns the names of the properties to show. It leaves out null properties and those internal to SDKs, except in a document.
func (p *diffPrinter) shownNames(o property.Map) []string {
	var out []string
	for _, name := range o.Names() {
		if p.exact || !property.IsInternalName(name) && !o.At(name).IsNull() {
			out = append(out, name)
		}
	}
	return out
}

func labelWidth(names []string) int {
	width := 0
	for _, n := range names {
		if w := utf8.RuneCountInString(n); w > width && w <= 40 {
			width = w
		}
	}
	return width
}

func padName(name string, width int) string {
	return cleanLine(name) + strings.Repeat(" ", max(width-utf8.RuneCountInString(name), 0))
}

// scalar formats a value that fits on one line.
func (p *diffPrinter) scalar(v property.Value) string {
	inner, shown := visible(v, p.showSecrets)
	switch {
	case !shown:
		return maskedText
	case inner.IsNull():
		if p.exact {
			return "null"
		}
		return "<null>"
	case inner.IsUnknown():
		return p.unknown()
	case inner.IsBool():
		return strconv.FormatBool(inner.AsBool())
	case inner.IsNumber():
		return formatNumber(inner.AsNumber())
	case inner.IsString():
		return p.text(inner.AsString())
	case inner.IsAsset():
		a := inner.AsAsset()
		return p.blob("asset", a.Kind, a.Hash, a.Path, a.URI)
	case inner.IsArchive():
		a := inner.AsArchive()
		return p.blob("archive", a.Kind, a.Hash, a.Path, a.URI)
	case inner.IsReference():
		return strconv.Quote(string(inner.AsReference().URN))
	case inner.IsArray():
		return p.inlineArray(inner.AsArray())
	}
	if inner.AsMap().Len() == 0 {
		return "{}"
	}
	return fmt.Sprintf("{...%d properties}", inner.AsMap().Len())
}

func (p *diffPrinter) inlineArray(a property.Array) string {
	if a.Len() == 0 {
		return "[]"
	}
	return fmt.Sprintf("[...%d elements]", a.Len())
}

// unknown describes what an unknown value waits for, if that is known.
func (p *diffPrinter) unknown() string {
	if p.waits != nil {
		if what := p.waits(p.property); what != "" {
			return "[unknown until " + what + "]"
		}
	}
	return "[unknown]"
}

func formatNumber(f float64) string {
	if f == math.Trunc(f) && math.Abs(f) < 1e21 {
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	return strconv.FormatFloat(f, 'g', -1, 64)
}

// text quotes a text, after cutting a long one.
func (p *diffPrinter) text(s string) string {
	if p.full {
		return strconv.Quote(s)
	}
	cut, runes, lines := len(s), 0, 0
	for i, r := range s {
		if runes++; r == '\n' {
			lines++
		}
		if runes > maxTextShown || lines > maxTextLines {
			cut = i
			break
		}
	}
	if cut == len(s) {
		return strconv.Quote(s)
	}
	return fmt.Sprintf("%s... (%s)", strconv.Quote(s[:cut]), byteSize(len(s)))
}

func byteSize(n int) string {
	switch {
	case n < 1<<10:
		return fmt.Sprintf("%d bytes", n)
	case n < 1<<20:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
}

func (p *diffPrinter) blob(what string, kind property.SourceKind, hash, path, uri string) string {
	source := map[property.SourceKind]string{
		property.KindText: "text", property.KindMembers: "assets", property.KindPath: "file", property.KindURI: "uri",
	}[kind]
	if source == "" {
		source = "hash"
	}
	out := fmt.Sprintf("%s(%s:%s)", what, source, shortHash(hash))
	if where := path + uri; where != "" {
		out += " { " + cleanLine(where) + " }"
	}
	return out
}

func shortHash(h string) string {
	if h == "" {
		return "<computed>"
	}
	return h[:min(len(h), 7)]
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
