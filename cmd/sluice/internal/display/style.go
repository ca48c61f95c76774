package display

import (
	"github.com/charmbracelet/x/ansi"

	"github.com/sluice-iac/sluice/internal/text/printable"
)

// colour is one of the colours of the terminal's own palette.
type colour int

const (
	plain colour = iota
	red
	green
	yellow
	magenta
	cyan
	grey
)

var colours = map[colour]ansi.BasicColor{
	red: ansi.Red, green: ansi.Green, yellow: ansi.Yellow, magenta: ansi.Magenta, cyan: ansi.Cyan, grey: ansi.BrightBlack,
}

// style paints text in colours if on is set.
type style struct{ on bool }

func (s style) paint(c colour, text string) string {
	if !s.on || c == plain || text == "" {
		return text
	}
	return ansi.NewStyle().ForegroundColor(colours[c]).Styled(text)
}

// difference paints text of a diff. Strong text stands out from the rest of the line.
func (s style) difference(c colour, strong bool, text string) string {
	if !s.on || !strong || text == "" {
		return s.paint(c, text)
	}
	return ansi.NewStyle().ForegroundColor(colours[c]).Reverse(true).Styled(text)
}

func (s style) bold(text string) string {
	if !s.on {
		return text
	}
	return ansi.NewStyle().Bold().Styled(text)
}

// clean makes a message safe to print: it removes colour tags, terminal commands, and control characters other than
// line ends and tabs.
func clean(text string) string { return printable.Text(text) }

// cleanLine makes a name, or another text of one line, safe to print. It escapes rather than removes characters, so that different names
// look different.
func cleanLine(text string) string { return printable.Line(text) }

// cutToWidth shortens one line of text to a number of terminal cells. It counts two cells for characters outside ASCII,
// so the result may be shorter than necessary but never wraps.
func cutToWidth(text string, width int) string {
	cells := 0
	for i, r := range text {
		size := 1
		if r > 0x7e {
			size = 2
		}
		if cells+size > width {
			return text[:i]
		}
		cells += size
	}
	return text
}
