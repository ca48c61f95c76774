package display

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/sluice-iac/sluice/urn"
)

// columns are the widths of types and names, in cells.
type columns struct{ kinds, names int }

// fit widens the columns for a resource.
func (c *columns) fit(l layout, u urn.URN, name string) {
	if !l.urns {
		c.widen(shortType(u.Type()), name)
	}
}

func (c *columns) widen(kind, name string) {
	c.kinds = max(c.kinds, min(ansi.StringWidth(kind), maxTypeWidth))
	c.names = max(c.names, min(ansi.StringWidth(name), maxNameWidth))
}

// besides is the width of a row without its type, name and outcome: the sign, and the spaces between the columns.
const besides = 6

// layout fits a text into a terminal.
type layout struct {
	width func() int // in cells; nil without a terminal
	urns  bool       // resources are named by their URNs, which are whole
}

// fitted breaks lines that are wider than the terminal between words, and indents the continuation, so that the columns on the left stay readable. It
// does not break a word that does not fit.
func (l layout) fitted(text string) string {
	if l.width == nil {
		return text
	}
	return Fit(text, l.width())
}

// narrowed returns the columns that fit the terminal. A quarter of its width is for the outcomes. Of a long type and a long name, the type gets
// less than it needs, down to a third of the width: it can be shortened, and a name that people copy cannot.
func (l layout) narrowed(c columns) columns {
	if l.width == nil || l.width() < minWrapped {
		return c
	}
	width := l.width()
	room := width - besides - min(minFate, width/4)
	if !l.urns {
		names := c.names
		if names > width/3 { // it takes a line of its own in any case
			names = width / 4
		}
		kinds := min(room-names, width-besides+1-c.names)
		c.kinds = min(c.kinds, max(kinds, width/3))
	}
	c.names = min(c.names, max(room-c.kinds, 0))
	return c
}

// Narrowed returns the widths of the columns of types and names that fit a screen of this width, in cells.
func Narrowed(width, kinds, names int) (narrowKinds, narrowNames int) {
	c := layout{width: func() int { return width }}.narrowed(columns{kinds, names})
	return c.kinds, c.names
}

// Shortened cuts the beginning of a type that is wider than a column of a screen.
func Shortened(kind string, width int) string {
	return layout{width: func() int { return width }}.shortened(kind, width)
}

// shortened cuts the beginning of a type that is wider than its column on a terminal: the end says what it is.
func (l layout) shortened(kind string, width int) string {
	excess := ansi.StringWidth(kind) - width
	if l.width == nil || l.urns || excess <= 0 || width < 4 {
		return kind
	}
	rest := ansi.TruncateLeft(kind, excess+1, "")
	if i := strings.LastIndexByte(kind, ':'); i >= 0 && ansi.StringWidth(kind[i+1:]) < width {
		rest = kind[i+1:]
		if j := strings.LastIndexByte(kind[:i], ':'); j >= 0 && ansi.StringWidth(kind[j+1:]) < width {
			rest = kind[j+1:]
		}
	}
	return "…" + rest
}
