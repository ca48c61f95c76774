package format

import (
	"encoding/json"
	"io"
	"slices"
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
	rows = slices.Clone(rows)
	for i, r := range rows {
		rows[i] = [2]string{printable.Line(r[0]), printable.Line(r[1])}
	}
	width := 0
	for _, r := range rows {
		width = max(width, len([]rune(r[0])))
	}
	var b strings.Builder
	for _, r := range rows {
		line := r[0] + strings.Repeat(" ", width-len([]rune(r[0]))) + "  " + r[1]
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}
