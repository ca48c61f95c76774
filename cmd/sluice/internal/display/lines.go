package display

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/sluice-iac/sluice/internal/text/comparison"
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

// compare prints the difference between two values. It prints nothing if they are equal.
func (p *diffPrinter) compare(depth int, l label, at property.Path, old, new property.Value) {
	if p.equal(old, new) {
		return
	}
	if p.isHidden(at) {
		p.add(depth, changed, cleanLine(at.String())+" (hidden)")
		return
	}
	l.forces = l.forces || p.forced.isAt(at)
	if !p.exact && (old.IsNull() || new.IsNull()) {
		p.compareWithNothing(depth, l, at, old, new)
		return
	}
	if !p.showSecrets && (isSecret(old) || isSecret(new)) {
		p.spans(depth, changed, l, span{text: maskedText, colour: red}, span{text: arrow, colour: grey}, span{text: maskedText, colour: green},
			span{text: secrecy(old, new)})
		return
	}
	oldInner, oldShown := visible(old, p.showSecrets)
	newInner, newShown := visible(new, p.showSecrets)
	if !oldShown || !newShown || !p.exact && property.Equal(oldInner, newInner) {
		p.scalars(depth, l, old, new, secrecy(old, new))
		return
	}
	p.compareShown(depth, l, at, oldInner, newInner)
}

func (p *diffPrinter) compareWithNothing(depth int, l label, at property.Path, old, new property.Value) {
	l.forces = l.forces || p.forced.insideOrAt(at)
	if old.IsNull() {
		p.value(depth, added, l, new)
	} else {
		p.value(depth, removed, l, old)
	}
}

func (p *diffPrinter) equal(old, new property.Value) bool {
	if p.exact {
		return property.Identical(old, new)
	}
	return property.Equal(old, new)
}

// scalars prints two values on one line.
func (p *diffPrinter) scalars(depth int, l label, old, new property.Value, note string) {
	p.spans(depth, changed, l, span{text: p.scalar(old), colour: red}, span{text: arrow, colour: grey}, span{text: p.scalar(new), colour: green},
		span{text: note})
}

func (p *diffPrinter) compareShown(depth int, l label, at property.Path, old, new property.Value) {
	switch {
	case depth >= maxDepthShown:
		p.scalars(depth, l, old, new, " (they differ deeper inside)")
	case old.IsMap() && new.IsMap():
		p.line(depth, changed, l, "{")
		p.compareMaps(depth+1, at, old.AsMap(), new.AsMap(), nil)
		p.add(depth, same, "}")
	case old.IsArray() && new.IsArray():
		p.line(depth, changed, l, "[")
		p.compareArrays(depth+1, at, old.AsArray(), new.AsArray())
		p.add(depth, same, "]")
	case comparison.IsCollection(old) || comparison.IsCollection(new):
		l.forces = l.forces || p.forced.insideOrAt(at)
		p.value(depth, removed, l, old)
		p.value(depth, added, l, new)
	case old.IsString() && new.IsString():
		p.compareTexts(depth, l, at, old.AsString(), new.AsString())
	default:
		p.scalars(depth, l, old, new, "")
	}
}

// compareMaps prints the properties that differ. If only is not nil, it prints only these.
func (p *diffPrinter) compareMaps(depth int, at property.Path, old, new property.Map, only []string) {
	names := old.Names()
	for _, name := range new.Names() {
		if _, both := old.Get(name); !both {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	names = slices.DeleteFunc(names, func(name string) bool {
		return !p.exact && property.IsInternalName(name) || only != nil && !slices.Contains(only, name) || p.equalAt(old, new, name)
	})
	width := labelWidth(names)
	for i, name := range names {
		if i == maxElementsShown && !p.full {
			p.more(depth, changed, len(names)-i)
			return
		}
		p.enter(at, name)
		p.compareAt(depth, label{name: padName(name, width)}, at.With(property.Key(name)), old, new, name)
	}
}

// equalAt reports whether two objects have the same property, or both lack it.
func (p *diffPrinter) equalAt(old, new property.Map, name string) bool {
	was, inOld := old.Get(name)
	is, inNew := new.Get(name)
	return (!p.exact || inOld == inNew) && p.equal(was, is)
}

// compareAt compares the values of one name in two objects. In a document, a missing value differs from null.
func (p *diffPrinter) compareAt(depth int, l label, at property.Path, old, new property.Map, name string) {
	was, inOld := old.Get(name)
	is, inNew := new.Get(name)
	before := len(p.lines)
	switch {
	case p.exact && !inOld:
		p.value(depth, added, l, is)
	case p.exact && !inNew:
		p.value(depth, removed, l, was)
	default:
		p.compare(depth, l, at, was, is)
	}
	p.markForced(before, at)
}

// markForced marks the first line of a property if a change inside it forces a replacement and no line has such a mark.
func (p *diffPrinter) markForced(from int, at property.Path) {
	lines := p.lines[from:]
	if len(lines) == 0 || lines[0].label.name == "" || !p.forced.insideOrAt(at) || slices.ContainsFunc(lines, func(l line) bool { return l.label.forces }) {
		return
	}
	lines[0].label.forces = true
}

func (p *diffPrinter) isHidden(at property.Path) bool {
	return slices.ContainsFunc(p.hidden, func(h property.Path) bool { return h.Contains(at) })
}

// stackOutputs prints the outputs of the stack and marks those that changed.
func (p *diffPrinter) stackOutputs(old, new property.Map, which outputs) {
	var names []string
	names = append(names, new.Names()...)
	for _, name := range old.Names() {
		if _, kept := new.Get(name); !kept {
			names = append(names, name)
		}
	}
	if which == changedOutputs {
		names = slices.DeleteFunc(names, func(name string) bool { return property.Equal(old.At(name), new.At(name)) })
	}
	slices.Sort(names)
	width := labelWidth(names)
	for _, name := range names {
		was, is := old.At(name), new.At(name)
		l := label{name: padName(name, width)}
		switch {
		case was.IsNull() && is.IsNull():
		case was.IsNull() && which == firstOutputs:
			p.value(0, same, l, is)
		case was.IsNull():
			p.value(0, added, l, is)
		case is.IsNull():
			p.value(0, removed, l, was)
		case property.Equal(was, is):
			p.value(0, same, l, is)
		default:
			p.compare(0, l, property.Path{property.Key(name)}, was, is)
		}
	}
}

// compareTexts prints two texts: by value if both hold documents, line by line if they have several lines, else on one line or two.
func (p *diffPrinter) compareTexts(depth int, l label, at property.Path, old, new string) {
	if p.compareDocuments(depth, l, at, old, new) {
		return
	}
	if strings.Count(old, "\n") > 1 || strings.Count(new, "\n") > 1 {
		p.compareLines(depth, l, old, new)
		return
	}
	was, is, hidden := excerpts{p.full}.abreast(old, new, quotedPart)
	quote := func(c colour, w window) []span {
		spans := append([]span{{text: w.before + `"`, colour: c}}, w.spans(c)...)
		return append(spans, span{text: `"` + w.after, colour: c})
	}
	if was.length()+is.length() <= maxAbreast {
		spans := append(quote(red, was), span{text: arrow, colour: grey})
		p.spans(depth, changed, l, append(append(spans, quote(green, is)...), span{text: hidden})...)
		return
	}
	p.line(depth, changed, l, strings.TrimSpace(hidden))
	p.spans(depth+1, removed, label{}, quote(red, was)...)
	p.spans(depth+1, added, label{}, quote(green, is)...)
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
		p.line(depth, changed, l, onlyFormat(was, is))
		return true
	}
	p.exactly(func() { p.compareShown(depth, l, at, was.Value, is.Value) })
	return true
}

// compareLines prints the parts in which two texts differ as a unified diff. It skips equal lines at both ends without splitting them.
func (p *diffPrinter) compareLines(depth int, l label, old, new string) {
	head := commonHead(old, new)
	before := lastLines(old[:head], contextLines)
	skipped := strings.Count(old[:head-len(before)], "\n")
	old, new = old[head:], new[head:]
	tail := commonTail(old, new)
	after := firstLines(old[len(old)-tail:], contextLines)
	isWhole := len(before) == head && len(after) == tail
	old, new = old[:len(old)-tail], new[:len(new)-tail]
	h := &hunkPrinter{p: p, excerpts: excerpts{p.full}, depth: depth + 1, room: maxElementsShown}
	if !p.full && (len(old) > maxCompared || len(new) > maxCompared) {
		was, is := firstLines(old, maxElementsShown), firstLines(new, maxElementsShown)
		h.left = countLines(old[len(was):]) + countLines(new[len(is):])
		old, new, after, isWhole = was, is, "", false
	}
	lines := merged(before, old, new, after, skipped)
	p.line(depth, changed, l, `"""`)
	for _, hunk := range hunks(lines) {
		h.print(hunk, !isWhole || len(hunk) < len(lines))
	}
	if h.left > 0 {
		p.add(depth+1, changed, fmt.Sprintf("... %s more; --show-full-output shows them", plural(h.left, "changed line", "changed lines")))
	}
	p.add(depth, same, `"""`)
}

// commonHead returns the length of the equal whole lines at the beginning.
func commonHead(a, b string) int {
	n := 0
	for i := 0; i < len(a) && i < len(b) && a[i] == b[i]; i++ {
		if a[i] == '\n' {
			n = i + 1
		}
	}
	return n
}

// commonTail returns the length of the equal whole lines at the end. Both texts begin at the start of a line.
func commonTail(a, b string) int {
	i := 0
	for i < len(a) && i < len(b) && a[len(a)-1-i] == b[len(b)-1-i] {
		i++
	}
	if i == len(a) && i == len(b) {
		return i
	}
	if n := strings.IndexByte(a[len(a)-i:], '\n'); n >= 0 {
		if wholeLine := (i == len(a) || a[len(a)-i-1] == '\n') && (i == len(b) || b[len(b)-i-1] == '\n'); wholeLine {
			return i
		}
		return i - n - 1
	}
	return 0
}

// lastLines returns the last lines of a text that ends with a line end.
func lastLines(s string, n int) string {
	at := len(s)
	for range n {
		if at == 0 {
			break
		}
		at = strings.LastIndexByte(s[:at-1], '\n') + 1
	}
	return s[at:]
}

// firstLines returns the first lines of a text.
func firstLines(s string, n int) string {
	at := 0
	for range n {
		i := strings.IndexByte(s[at:], '\n')
		if i < 0 {
			return s
		}
		at += i + 1
	}
	return s[:at]
}
