package display

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/sluice-iac/sluice/property"
)

// Limits on how much of one value is shown, unless the user has asked for everything.
const (
	maxTextShown     = 150 // characters of one text
	maxTextLines     = 3
	maxElementsShown = 40
	maxEmbeddedJSON  = 64 << 10 // bytes of a text that is parsed as JSON
)

// mark is the sign in front of a line of a diff.
type mark byte

const (
	same    mark = ' '
	added   mark = '+'
	removed mark = '-'
	changed mark = '~'
)

func (m mark) colour() colour {
	switch m {
	case added:
		return green
	case removed:
		return red
	case changed:
		return yellow
	}
	return plain
}

// line is one line of a diff, without its final newline. The layout uses only depth and mark.
type line struct {
	depth int
	mark  mark
	text  string
}

// diffPrinter collects the lines that show values and their differences.
type diffPrinter struct {
	showSecrets bool
	full        bool            // do not cut
	hidden      []property.Path // of these only the name is shown
	lines       []line
}

func (p *diffPrinter) add(depth int, m mark, text string) {
	p.lines = append(p.lines, line{depth, m, text})
}

// value prints a whole value with a label.
func (p *diffPrinter) value(depth int, m mark, label string, v property.Value) {
	inner, shown := visible(v, p.showSecrets)
	if !shown {
		p.add(depth, m, label+maskedText)
		return
	}
	switch {
	case inner.IsArray() && inner.AsArray().Len() > 0:
		p.add(depth, m, label+"[")
		p.elements(depth, m, inner.AsArray())
		p.add(depth, same, "]")
	case inner.IsMap() && inner.AsMap().Len() > 0:
		p.add(depth, m, label+"{")
		p.fields(depth+1, m, inner.AsMap())
		p.add(depth, same, "}")
	case inner.IsArchive() && inner.AsArchive().Kind == property.KindMembers:
		p.add(depth, m, label+p.scalar(inner)+" {")
		p.fields(depth+1, m, inner.AsArchive().Members)
		p.add(depth, same, "}")
	default:
		if parsed, ok := embeddedJSON(inner); ok {
			p.value(depth, m, label+"(json) ", parsed)
			return
		}
		p.add(depth, m, label+p.scalar(inner))
	}
}

func (p *diffPrinter) elements(depth int, m mark, a property.Array) {
	for i, e := range a.All() {
		if i == maxElementsShown && !p.full {
			p.add(depth+1, m, fmt.Sprintf("... and %d more", a.Len()-i))
			return
		}
		p.value(depth+1, m, fmt.Sprintf("[%d]: ", i), e)
	}
}

func (p *diffPrinter) fields(depth int, m mark, o property.Map) {
	names := shownNames(o)
	width := labelWidth(names)
	for i, name := range names {
		if i == maxElementsShown && !p.full {
			p.add(depth, m, fmt.Sprintf("... and %d more", len(names)-i))
			return
		}
		p.value(depth, m, padLabel(name, width), o.At(name))
	}
}

// shownNames returns the names of the properties to show: all but those internal to SDKs and those that are null.
func shownNames(o property.Map) []string {
	var out []string
	for _, name := range o.Names() {
		if !property.IsInternalName(name) && !o.At(name).IsNull() {
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

func padLabel(name string, width int) string {
	return cleanLine(name) + strings.Repeat(" ", max(width-utf8.RuneCountInString(name), 0)) + ": "
}

// scalar formats a value that fits on one line.
func (p *diffPrinter) scalar(v property.Value) string {
	inner, shown := visible(v, p.showSecrets)
	switch {
	case !shown:
		return maskedText
	case inner.IsNull():
		return "<null>"
	case inner.IsUnknown():
		return "[unknown]"
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

func formatNumber(f float64) string {
	if f == math.Trunc(f) && math.Abs(f) < 1e21 {
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	return strconv.FormatFloat(f, 'g', -1, 64)
}

// text quotes a text. It cuts a long text before it quotes it.
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

// embeddedJSON parses a text that holds a JSON object or array, which is more readable when parsed.
func embeddedJSON(v property.Value) (property.Value, bool) {
	if !v.IsString() {
		return property.Null, false
	}
	s := strings.TrimSpace(v.AsString())
	if len(s) < 2 || len(s) > maxEmbeddedJSON || (s[0] != '{' && s[0] != '[') {
		return property.Null, false
	}
	var parsed any
	if err := json.Unmarshal([]byte(s), &parsed); err != nil {
		return property.Null, false
	}
	out := property.Plain(parsed)
	return out, out.IsMap() && out.AsMap().Len() > 0 || out.IsArray() && out.AsArray().Len() > 0
}
