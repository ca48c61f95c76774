package display

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sluice-iac/sluice/internal/text/align"
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

// span is a part of a line with one style.
type span struct {
	text   string
	colour colour // plain is the colour of the line
	strong bool   // it is the differing part
}

// arrow stands between an old value and a new one.
const arrow = " → "

// label names the value of a line.
type label struct {
	name   string // padded; "" for a line that is no value
	forces bool   // its change forces a replacement
	what   string // describes the value, for example "(JSON)"
}

// forcesReplacement follows the name of a property whose change forces a replacement.
const forcesReplacement = " (forces replacement)"

func (l label) spans() []span {
	if l.name == "" {
		return nil
	}
	out := []span{{text: l.name}}
	if l.forces {
		out = []span{{text: strings.TrimRight(l.name, " ")}, {text: forcesReplacement, colour: magenta}}
	}
	after := ": "
	if l.what != "" {
		after += l.what + " "
	}
	return append(out, span{text: after})
}

// line is one line of a diff, without its final newline.
type line struct {
	depth int
	mark  mark
	label label
	spans []span // behind the label
}

// painted returns the line with its colours.
func (l line) painted(s style) string {
	var b strings.Builder
	b.WriteString(strings.Repeat("    ", l.depth))
	spans := append([]span{{text: string(l.mark) + " "}}, l.label.spans()...)
	spans = slices.DeleteFunc(append(spans, l.spans...), func(x span) bool { return x.text == "" })
	spans[len(spans)-1].text = strings.TrimRight(spans[len(spans)-1].text, " ")
	for i := 0; i < len(spans); {
		x := spans[i]
		if x.colour == plain {
			x.colour = l.mark.colour()
		}
		for i++; i < len(spans) && spans[i].strong == x.strong && (spans[i].colour == x.colour || spans[i].colour == plain && x.colour == l.mark.colour()); i++ {
			x.text += spans[i].text
		}
		b.WriteString(s.difference(x.colour, x.strong, x.text))
	}
	return b.String()
}

// painted returns lines below an indentation.
func painted(s style, indent string, lines []line) string {
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(indent + l.painted(s) + "\n")
	}
	return b.String()
}

// partsOf returns the spans of a text of which some parts differ. escape makes a part safe to print.
func partsOf(c colour, parts []align.Part, escape func(string) string) []span {
	out := make([]span, len(parts))
	for i, p := range parts {
		out[i] = span{escape(p.Text), c, p.Differs}
	}
	return out
}

// lineWriter collects the lines of values and of their differences.
type lineWriter struct{ lines []line }

// add adds a line without a value.
func (w *lineWriter) add(depth int, m mark, text string) {
	w.spans(depth, m, label{}, span{text: text})
}

func (w *lineWriter) spans(depth int, m mark, l label, spans ...span) {
	w.lines = append(w.lines, line{depth, m, l, spans})
}

// line adds a line with a label.
func (w *lineWriter) line(depth int, m mark, l label, text string) {
	w.spans(depth, m, l, span{text: text})
}

// more adds a line that counts the values left out.
func (w *lineWriter) more(depth int, m mark, n int) {
	w.add(depth, m, fmt.Sprintf("... and %d more", n))
}
