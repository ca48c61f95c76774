package printable

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"sync"
	"unicode/utf8"
)

// Writer makes everything visible that is written to it and is not safe to print. It is safe for concurrent use.
type Writer struct {
	out    io.Writer
	styled bool

	mu   sync.Mutex // guards rest
	rest []byte     // the beginning of a character or of a sequence, whose end is still to come
}

// NewWriter returns a writer before another one.
func NewWriter(out io.Writer) *Writer { return &Writer{out: out} }

// NewStyledWriter returns a writer that passes on changes of colour, and what erases a line that is drawn again. It is for who cleans the texts
// between them.
func NewStyledWriter(out io.Writer) *Writer { return &Writer{out: out, styled: true} }

// The sequences of styled texts, and what may become one.
var (
	style     = regexp.MustCompile(`^(?:\x1b\[[0-9;:]*m|\r\x1b\[2K)`)
	unstyled  = regexp.MustCompile(`^(?:\x1b(?:\[[0-9;:]*)?|\r(?:\x1b(?:\[2?)?)?)$`)
	longStyle = 64 // bytes of a sequence that is waited for
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

// Flush writes what was left because its end has not come.
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

// clean returns the text as it is written, and its end if that may be the beginning of something.
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
				at++ // the line end of another system
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

// sequence returns the length of the sequence that a text begins with, 0 if that is none which may be written. complete is false if what follows decides.
func (w *Writer) sequence(text []byte) (n int, complete bool) {
	if !w.styled {
		return 0, len(text) > 1 || text[0] != '\r'
	}
	if found := style.Find(text[:min(len(text), longStyle)]); found != nil {
		return len(found), true
	}
	return 0, len(text) > longStyle || !unstyled.Match(text)
}

// appendByte appends a byte that is no character, or one that is a control.
func appendByte(out []byte, b byte) []byte {
	if b != '\n' && b != '\t' && (b < ' ' || b >= 0x7f) {
		return fmt.Appendf(out, `\x%02x`, b)
	}
	return append(out, b)
}

// JSONWriter writes JSON with escape sequences for unsafe characters. Each Write has to end between two characters, as those of encoders do.
type JSONWriter struct{ Out io.Writer }

// Write implements [io.Writer].
func (w JSONWriter) Write(p []byte) (int, error) {
	if _, err := w.Out.Write(JSON(p)); err != nil {
		return 0, err
	}
	return len(p), nil
}
