package display

import (
	"strings"
	"unicode"

	"github.com/charmbracelet/x/ansi"
)

// minWrapped is the smallest width of a terminal for which lines are broken between words.
const minWrapped = 30

// Fit breaks the lines of a text that are wider than a terminal of this width in cells, between words.
func Fit(text string, width int) string {
	return strings.Join(fitLines(strings.Split(text, "\n"), width, false), "\n")
}

// fitLines breaks lines that are wider than width cells between words. If names is set, it also breaks names that do not fit on a line; users copy
// whole names from a terminal.
func fitLines(lines []string, width int, names bool) []string {
	if width < minWrapped {
		return lines
	}
	var out []string
	for _, line := range lines {
		if ansi.StringWidth(line) > width {
			out = append(out, strings.Split(hang(line, width, names), "\n")...)
			continue
		}
		out = append(out, line)
	}
	return out
}

// hang breaks one line. The continuation is indented deeper than the first letter, if there is room.
func hang(line string, width int, names bool) string {
	text := ansi.Strip(line)
	indent := min(ansi.StringWidth(text[:max(strings.IndexFunc(text, isWordRune), 0)])+4, width/2)
	var b strings.Builder
	at := 0 // the width of the line so far
	for rest, first := line, true; rest != ""; first = false {
		gap := len(rest) - len(strings.TrimLeft(rest, " "))
		word := rest[gap:]
		number, counted, follows := strings.Cut(word, " ")
		if word = number; follows && !first && isNumber(number) { // a number stays with the word that it counts
			if what, _, _ := strings.Cut(counted, " "); what != "" && ansi.StringWidth(number+" "+what) <= width-indent {
				word += " " + what
			}
		}
		if end := partOf(word); names && ansi.StringWidth(word) > width-indent && ansi.StringWidth(word[:end]) <= width-indent {
			word = word[:end]
		}
		rest = rest[gap+len(word):]
		size := ansi.StringWidth(word)
		if !first && at+gap+size > width {
			b.WriteString("\n")
			at, gap = 0, min(indent, max(width-size, 0)) // a long word has more room on the left
		}
		b.WriteString(strings.Repeat(" ", gap) + word)
		at += gap + size
	}
	return b.String()
}

// partOf returns the length of the beginning of a name after which it can be broken: "urn:pulumi:dev::" of a URN.
func partOf(name string) int {
	if i := strings.Index(name, "::"); i >= 0 && i+2 < len(name) {
		return i + 2
	}
	if i := strings.IndexAny(name, "/$"); i >= 0 && i+1 < len(name) {
		return i + 1
	}
	return len(name)
}

func isNumber(word string) bool { return word != "" && strings.Trim(word, "0123456789") == "" }

func isWordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
