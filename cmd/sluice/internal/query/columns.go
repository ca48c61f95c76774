package query

import (
	"slices"
	"strings"
)

// SplitColumns splits a list of expressions at the commas that are not in brackets or texts.
func SplitColumns(list string) []string {
	var out []string
	var quote rune
	depth, start, escaped := 0, 0, false
	for i, r := range list {
		switch {
		case escaped:
			escaped = false
		case quote != 0:
			escaped = r == '\\'
			if r == quote {
				quote = 0
			}
		case r == '"' || r == '\'':
			quote = r
		case slices.Contains([]rune("([{"), r):
			depth++
		case slices.Contains([]rune(")]}"), r):
			depth--
		case r == ',' && depth == 0:
			out = append(out, strings.TrimSpace(list[start:i]))
			start = i + 1
		}
	}
	return append(out, strings.TrimSpace(list[start:]))
}
