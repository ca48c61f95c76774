package reports

import (
	"bufio"
	"encoding/json"
	"io"

	"github.com/sluice-iac/sluice/internal/text/printable"
)

// WriteJSON writes the document itself.
func WriteJSON(out io.Writer, d *Document) error {
	b := bufio.NewWriterSize(out, 1<<16)
	enc := json.NewEncoder(printable.JSONWriter{Out: b})
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	if err := enc.Encode(d); err != nil {
		return err
	}
	return b.Flush()
}
