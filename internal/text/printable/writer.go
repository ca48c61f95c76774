package printable

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"sync"
	"unicode/utf8"
)

// Writer escapes everything written to it that is not safe to print. It is safe for concurrent use.
type Writer struct {
	out    io.Writer
	styled bool

	mu   sync.Mutex // guards rest
	rest []byte     // an incomplete character or sequence
}

// NewWriter returns a writer to out.
func NewWriter(out io.Writer) *Writer { return &Writer{out: out} }

// NewStyledWriter returns a writer that passes on changes of colour, and the sequences for redrawing a line. It is for callers that clean the texts
// in between.
func NewStyledWriter(out io.Writer) *Writer { return &Writer{out: out, styled: true} }

// The sequences of styled texts, and the prefixes of such sequences.
var (
	style     = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?:\x1b\[[0-9;:]*m|\r\x1b\[2K)`) })
	unstyled  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?:\x1b(?:\[[0-9;:]*)?|\r(?:\x1b(?:\[2?)?)?)$`) })
	longStyle = 64 // bytes of the longest sequence that is waited for
)

// Write implements [io.Writer].
func (w *Writer) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	text := p
	if len(w.rest) > 0 {
		text = append(w.rest, p...)
		w.rest = nil
	}
	if !anyUnsafe(text) {
		_, err := w.out.Write(text)
		return len(p), err
	}
	safe, rest := w.clean(text)
	w.rest = bytes.Clone(rest)
	if len(safe) == 0 {
		return len(p), nil
	}
	_, err := w.out.Write(safe)
	return len(p), err
}

// Flush writes an incomplete character or sequence.
func (w *Writer) Flush() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	var safe []byte
	for _, b := range w.rest {
		safe = appendByte(safe, b)
	}
	w.rest = nil
	if safe == nil {
		return nil
	}
	_, err := w.out.Write(safe)
	return err
}

// clean returns the safe form of the text. rest is its end if that is incomplete.
func (w *Writer) clean(text []byte) (safe, rest []byte) {
	safe = make([]byte, 0, len(text)+64)
	for at := 0; at < len(text); {
		left := text[at:]
		if left[0] == '\x1b' || left[0] == '\r' {
			n, complete := w.sequence(left)
			if !complete {
				return safe, left
			}
			if n > 0 {
				safe = append(safe, left[:n]...)
				at += n
				continue
			}
			if left[0] == '\r' && len(left) > 1 && left[1] == '\n' {
				at++ // a line end of Windows
				continue
			}
		}
		if !utf8.FullRune(left) {
			return safe, left
		}
		r, size := utf8.DecodeRune(left)
		switch {
		case r == utf8.RuneError && size == 1:
			safe = appendByte(safe, left[0])
		case IsUnsafe(r) && r < utf8.RuneSelf:
			safe = appendByte(safe, byte(r))
		case IsUnsafe(r):
			safe = append(safe, escape(r)...)
		default:
			safe = append(safe, left[:size]...)
		}
		at += size
	}
	return safe, nil
}

// sequence returns the length of the permitted sequence at the beginning of a text, 0 if there is none. complete is false if more text is needed to
// decide.
func (w *Writer) sequence(text []byte) (n int, complete bool) {
	if !w.styled {
		return 0, len(text) > 1 || text[0] != '\r'
	}
	if found := style().Find(text[:min(len(text), longStyle)]); found != nil {
		return len(found), true
	}
	return 0, len(text) > longStyle || !unstyled().Match(text)
}

// appendByte appends an invalid byte, or a control character, in visible form.
func appendByte(out []byte, b byte) []byte {
	if b != '\n' && b != '\t' && (b < ' ' || b >= 0x7f) {
		return fmt.Appendf(out, `\x%02x`, b)
	}
	return append(out, b)
}

// JSONWriter escapes unsafe characters in JSON. Each Write has to end between two characters, as those of encoders do.
type JSONWriter struct{ Out io.Writer }

// Write implements [io.Writer].
func (w JSONWriter) Write(p []byte) (int, error) {
	if _, err := w.Out.Write(JSON(p)); err != nil {
		return 0, err
	}
	return len(p), nil
}
