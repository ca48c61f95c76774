package format

import (
	"encoding/json"
	"io"
	"strings"

	"github.com/sluice-iac/sluice/internal/printable"
)

// JSON writes a value as JSON, indented by two spaces.
func JSON(w io.Writer, v any) error {
	enc := json.NewEncoder(printable.JSONWriter{Out: w})
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// Table writes two columns.
func Table(w io.Writer, rows [][2]string) error {
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
