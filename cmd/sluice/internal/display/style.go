package display

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"

	"github.com/charmbracelet/x/ansi"
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

// style paints text in colours if it is on.
type style struct{ on bool }

func (s style) paint(c colour, text string) string {
	if !s.on || c == plain || text == "" {
		return text
	}
	return ansi.NewStyle().ForegroundColor(colours[c]).Styled(text)
}

// difference paints text of a diff. What is strong stands out from the rest of the line.
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

var (
	// colourTag is the mark-up that Pulumi puts into messages.
	colourTag = regexp.MustCompile(`<\{%[^%]*%\}>`)
	// escapeSequence matches everything that a terminal takes as a command.
	escapeSequence = regexp.MustCompile(`\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])`)
)

// clean makes a message safe to print: it removes colour tags, terminal commands, and control characters other than
// line ends and tabs.
func clean(text string) string {
	if strings.Contains(text, "<{%") {
		text = colourTag.ReplaceAllString(text, "")
	}
	if strings.Contains(text, "\x1b") {
		text = escapeSequence.ReplaceAllString(text, "")
	}
	return escaped(strings.ReplaceAll(text, "\r\n", "\n"))
}

// escaped makes the control characters of a text visible, other than line ends and tabs.
func escaped(text string) string {
	if !strings.ContainsFunc(text, isUnsafe) && strings.ToValidUTF8(text, "\uFFFD") == text {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if isUnsafe(r) {
			fmt.Fprintf(&b, "\\x%02x", r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// cleanLine makes a name safe to print, or another text that must stay on one line. It leaves nothing out, so that two names look different.
func cleanLine(text string) string {
	return strings.ReplaceAll(strings.ReplaceAll(escaped(text), "\n", `\n`), "\t", `\t`)
}

func isUnsafe(r rune) bool {
	if r == '\n' || r == '\t' {
		return false
	}
	// Format characters include those that reverse the direction of writing.
	return unicode.IsControl(r) || unicode.Is(unicode.Cf, r)
}

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
