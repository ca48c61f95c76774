package display

import (
	"fmt"
	"math"
	"strconv"

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

// scalarFormat formats values that fit on one line.
type scalarFormat struct {
	showSecrets bool
	full        bool                     // do not cut
	exact       bool                     // null is a value, as in JSON, and not a missing property
	waits       func(name string) string // describes what the unknowns of a property wait for; nil if that is unknown
	property    string                   // the property that is being printed
}

// exactly prints the inside of a document.
func (f *scalarFormat) exactly(print func()) {
	before := f.exact
	f.exact = true
	print()
	f.exact = before
}

// scalar formats a value that fits on one line.
func (f *scalarFormat) scalar(v property.Value) string {
	inner, shown := visible(v, f.showSecrets)
	switch {
	case !shown:
		return maskedText
	case inner.IsNull():
		if f.exact {
			return "null"
		}
		return "<null>"
	case inner.IsUnknown():
		return f.unknown()
	case inner.IsBool():
		return strconv.FormatBool(inner.AsBool())
	case inner.IsNumber():
		return formatNumber(inner.AsNumber())
	case inner.IsString():
		return f.text(inner.AsString())
	case inner.IsAsset():
		a := inner.AsAsset()
		return f.blob("asset", a.Kind, a.Hash, a.Path, a.URI)
	case inner.IsArchive():
		a := inner.AsArchive()
		return f.blob("archive", a.Kind, a.Hash, a.Path, a.URI)
	case inner.IsReference():
		return strconv.Quote(string(inner.AsReference().URN))
	case inner.IsArray():
		return f.inlineArray(inner.AsArray())
	}
	if inner.AsMap().Len() == 0 {
		return "{}"
	}
	return fmt.Sprintf("{...%d properties}", inner.AsMap().Len())
}

func (f *scalarFormat) inlineArray(a property.Array) string {
	if a.Len() == 0 {
		return "[]"
	}
	return fmt.Sprintf("[...%d elements]", a.Len())
}

// unknown describes what an unknown value waits for, if that is known.
func (f *scalarFormat) unknown() string {
	if f.waits != nil {
		if what := f.waits(f.property); what != "" {
			return "[unknown until " + what + "]"
		}
	}
	return "[unknown]"
}

// text quotes a text, after cutting a long one.
func (f *scalarFormat) text(s string) string {
	if f.full {
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

func (f *scalarFormat) blob(what string, kind property.SourceKind, hash, path, uri string) string {
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

func formatNumber(f float64) string {
	if f == math.Trunc(f) && math.Abs(f) < 1e21 {
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	return strconv.FormatFloat(f, 'g', -1, 64)
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

func shortHash(h string) string {
	if h == "" {
		return "<computed>"
	}
	return h[:min(len(h), 7)]
}
