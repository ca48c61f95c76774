package format

import (
	"encoding/json"
	"io"
	"strings"

	"github.com/sluice-iac/sluice/internal/text/printable"
)

// JSON writes a value as JSON, indented by two spaces.
func JSON(w io.Writer, v any) error {
	enc := json.NewEncoder(printable.JSONWriter{Out: w})
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// Table writes two columns, each row on one line.
func Table(w io.Writer, rows [][2]string) error {
	list := make([][]string, len(rows))
	for i, r := range rows {
		list[i] = r[:]
	}
	return Columns(w, list)
}

// Columns writes rows of equally many columns, each row on one line.
func Columns(w io.Writer, rows [][]string) error {
	clean, widths := make([][]string, len(rows)), map[int]int{}
	for i, r := range rows {
		for at, cell := range r {
			cell = printable.Line(cell)
			clean[i] = append(clean[i], cell)
			widths[at] = max(widths[at], len([]rune(cell)))
		}
	}
	var b strings.Builder
	for _, r := range clean {
		line := ""
		for at, cell := range r {
			line += cell + strings.Repeat(" ", widths[at]-len([]rune(cell))+2)
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}
