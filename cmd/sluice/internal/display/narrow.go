package display

import (
	"strings"
	"unicode"

	"github.com/charmbracelet/x/ansi"
)

// minWrapped is the smallest width of a terminal for which lines are broken between words.
const minWrapped = 30

// fitted breaks lines that are wider than the terminal between words, and indents what follows, so that the columns on the left can still be read. A
// word that does not fit is left to the terminal.
func (p stepPrinter) fitted(text string) string {
	if p.Width == nil {
		return text
	}
	width := p.Width()
	if width < minWrapped {
		return text
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if ansi.StringWidth(line) > width {
			lines[i] = hang(line, width)
		}
	}
	return strings.Join(lines, "\n")
}

// hang breaks one line. What follows begins further to the right than the first letter, where there is room.
func hang(line string, width int) string {
	text := ansi.Strip(line)
	indent := min(ansi.StringWidth(text[:max(strings.IndexFunc(text, isWordRune), 0)])+4, width/2)
	var b strings.Builder
	at := 0 // the width of the line so far
	for rest, first := line, true; rest != ""; first = false {
		gap := len(rest) - len(strings.TrimLeft(rest, " "))
		word := rest[gap:]
		if end := strings.IndexByte(word, ' '); end >= 0 {
			word = word[:end]
		}
		rest = rest[gap+len(word):]
		size := ansi.StringWidth(word)
		if !first && at+gap+size > width && at > indent {
			b.WriteString("\n")
			at, gap = 0, indent
		}
		b.WriteString(strings.Repeat(" ", gap) + word)
		at += gap + size
	}
	return b.String()
}

func isWordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
