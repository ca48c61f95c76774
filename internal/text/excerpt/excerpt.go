package excerpt

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Limits on lines that are longer than a screen, such as those of generated programs.
const (
	longLine = 160
	context  = 60 // characters on either side
)

// Of shows a line and its number, with carets under the characters in [column, end). Both count characters from 1.
//
//	7 |     bucket: ${buket.id}
//	  |               ^^^^^^^^
func Of(number int, line string, column, end int) string {
	line, before, carets := cut(line, column, end)
	return fmt.Sprintf("%4d | %s\n     | %s%s", number, line, strings.Repeat(" ", before), strings.Repeat("^", carets))
}

// cut returns the shown part of the line, the number of characters before the carets, and the number of carets.
func cut(line string, column, end int) (shown string, before, carets int) {
	line = strings.ReplaceAll(line, "\t", " ")
	length := utf8.RuneCountInString(line)
	before = min(column-1, length)
	carets = max(1, min(end, length+1)-column)
	if length <= longLine {
		return line, before, carets
	}
	runes := []rune(line)
	carets = min(carets, context)
	from, to := max(0, before-context), min(length, before+carets+context)
	shown = string(runes[from:to])
	before -= from
	if from > 0 {
		shown, before = "…"+shown, before+1
	}
	if to < length {
		shown += "…"
	}
	return shown, before, carets
}

// Whole returns the range of columns of a line without the space around it.
func Whole(line string) (column, end int) {
	indent := utf8.RuneCountInString(line) - utf8.RuneCountInString(strings.TrimLeft(line, " \t"))
	return indent + 1, max(indent+1, utf8.RuneCountInString(strings.TrimRight(line, " \t"))) + 1
}
