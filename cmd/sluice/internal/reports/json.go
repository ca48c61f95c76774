package reports

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"unicode"
	"unicode/utf8"
)

// WriteJSON writes the document itself.
func WriteJSON(out io.Writer, d *Document) error {
	b := bufio.NewWriterSize(out, 1<<16)
	enc := json.NewEncoder(visibleWriter{b})
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	if err := enc.Encode(d); err != nil {
		return err
	}
	return b.Flush()
}

// visibleWriter writes JSON with escapes for the characters that nobody sees, such as those that change the direction of writing. All of
// them are in texts.
type visibleWriter struct{ out *bufio.Writer }

func (w visibleWriter) Write(text []byte) (int, error) {
	written := 0 // what is before has been written
	for at := 0; at < len(text); {
		r, size := utf8.DecodeRune(text[at:])
		if r >= utf8.RuneSelf && r <= 0xffff && (unicode.Is(unicode.Cf, r) || unicode.IsControl(r)) {
			if _, err := w.out.Write(text[written:at]); err != nil {
				return written, err
			}
			if _, err := fmt.Fprintf(w.out, `\u%04x`, r); err != nil {
				return written, err
			}
			written = at + size
		}
		at += size
	}
	_, err := w.out.Write(text[written:])
	return len(text), err
}
