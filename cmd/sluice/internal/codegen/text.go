package codegen

import (
	"strconv"
	"strings"
)

// comment converts notes to comment lines without a final line end.
func comment(sign string, notes []string) string {
	var lines []string
	for _, note := range notes {
		for line := range strings.Lines(note) {
			lines = append(lines, sign+" "+strings.TrimRight(line, "\r\n"))
		}
	}
	return strings.Join(lines, "\n")
}

// settingsComment lists the secrets that the program reads from its configuration.
func settingsComment(sign string, settings []string) string {
	if len(settings) == 0 {
		return ""
	}
	notes := []string{"Secret values are not shown. The program reads them from its configuration; set each with"}
	for _, key := range settings {
		notes = append(notes, "  sluice config set --secret "+key)
	}
	return comment(sign, notes) + "\n"
}

// number formats a number, without an exponent if that is readable.
func number(f float64) string {
	if f > -1e15 && f < 1e15 {
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	return strconv.FormatFloat(f, 'g', -1, 64)
}
