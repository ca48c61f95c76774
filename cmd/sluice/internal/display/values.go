package display

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/sluice-iac/sluice/internal/text/comparison"
	"github.com/sluice-iac/sluice/property"
)

// valuePrinter prints whole values.
type valuePrinter struct {
	out     *lineWriter
	format  *scalarFormat
	forced  forcedPaths
	entered map[string]bool // the properties so far
}

// print prints a whole value with a label.
func (p *valuePrinter) print(depth int, m mark, l label, v property.Value) {
	inner, shown := visible(v, p.format.showSecrets)
	if !shown {
		p.out.line(depth, m, l, maskedText)
		return
	}
	switch {
	case depth >= maxDepthShown:
		p.out.line(depth, m, l, p.format.scalar(inner))
	case inner.IsArray() && inner.AsArray().Len() > 0:
		p.out.line(depth, m, l, "[")
		p.elements(depth, m, inner.AsArray())
		p.out.add(depth, same, "]")
	case inner.IsMap() && inner.AsMap().Len() > 0:
		p.out.line(depth, m, l, "{")
		p.fields(depth+1, m, nil, inner.AsMap())
		p.out.add(depth, same, "}")
	case inner.IsArchive() && inner.AsArchive().Kind == property.KindMembers:
		p.out.line(depth, m, l, p.format.scalar(inner)+" {")
		p.fields(depth+1, m, nil, inner.AsArchive().Members)
		p.out.add(depth, same, "}")
	default:
		if d, ok := embeddedValue(inner); ok && d.Format == "JSON" {
			l.what = "(JSON)"
			p.format.exactly(func() { p.print(depth, m, l, d.Value) })
			return
		}
		p.out.line(depth, m, l, p.format.scalar(inner))
	}
}

func (p *valuePrinter) elements(depth int, m mark, a property.Array) {
	for i, e := range a.All() {
		if i == maxElementsShown && !p.format.full {
			p.out.more(depth+1, m, a.Len()-i)
			return
		}
		p.print(depth+1, m, label{name: fmt.Sprintf("[%d]", i)}, e)
	}
}

// fields prints the properties of an object at a path. The path is nil inside a value that is printed as a whole.
func (p *valuePrinter) fields(depth int, m mark, at property.Path, o property.Map) {
	names := p.shownNames(o)
	width := labelWidth(names)
	for i, name := range names {
		if i == maxElementsShown && !p.format.full {
			p.out.more(depth, m, len(names)-i)
			return
		}
		l := label{name: padName(name, width)}
		if at != nil {
			p.enter(at, name)
			l.forces = p.forced.insideOrAt(at.With(property.Key(name)))
		}
		p.print(depth, m, l, o.At(name))
	}
}

// enter records the property that is printed next, if at is the path of all properties of the resource.
func (p *valuePrinter) enter(at property.Path, name string) {
	if len(at) > 0 {
		return
	}
	if p.entered == nil {
		p.entered = map[string]bool{}
	}
	p.format.property, p.entered[name] = name, true
}

// shownNames returns the names of the properties to show. It leaves out null properties and those internal to SDKs, except in a document.
func (p *valuePrinter) shownNames(o property.Map) []string {
	var out []string
	for _, name := range o.Names() {
		if p.format.exact || !property.IsInternalName(name) && !o.At(name).IsNull() {
			out = append(out, name)
		}
	}
	return out
}

// embeddedValue parses the document in a text value.
func embeddedValue(v property.Value) (comparison.Document, bool) {
	if !v.IsString() {
		return comparison.Document{}, false
	}
	return comparison.DocumentIn(v.AsString())
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
