package plugin

import (
	"bytes"
	"io"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/sluice-iac/sluice/property/redact"
)

// Line is one line that a plugin wrote after its port, or a piece of one.
type Line struct {
	Piece
	Plugin string // "pulumi-resource-aws"
	Stderr bool
	// Stream distinguishes the two streams of each process; consecutive lines of one stream belong together
	// (protocol.md 1.7).
	Stream int32
}

// Piece is a line without its line break. A line of more than 64 KiB, such as binary data, comes in pieces. Code that takes secrets out
// of it must put them together again: a secret may lie across the cut.
type Piece struct {
	Text string // not blank in a line of one piece
	Cut  bool   // the line goes on in the next piece of its stream
	Rest bool   // the piece goes on with the line of the one before
}

const (
	// maxLine is the length of a piece, in bytes.
	maxLine = 64 << 10
	// maxSequence is the length up to which an escape sequence is not cut in two.
	maxSequence = 32
)

// Splitter cuts its input into lines. It is not safe for concurrent use.
type Splitter struct {
	Emit func(Piece)
	line []byte // the part of the unfinished line that was not emitted
	cut  bool   // a piece of that line was emitted
}

func (s *Splitter) Write(p []byte) (int, error) {
	written := len(p)
	for len(p) > 0 {
		room := min(len(p), maxLine-len(s.line))
		if end := bytes.IndexByte(p, '\n'); end >= 0 && end <= room {
			s.line = append(s.line, p[:end]...)
			s.finish()
			p = p[end+1:]
			continue
		}
		s.line = append(s.line, p[:room]...)
		p = p[room:]
		if len(s.line) == maxLine {
			s.emitPiece()
		}
	}
	return written, nil
}

// End ends the last line, if it has no end.
func (s *Splitter) End() {
	if len(s.line) > 0 || s.cut {
		s.finish()
	}
}

func (s *Splitter) finish() {
	if text := string(bytes.TrimRight(s.line, "\r")); s.cut || strings.TrimSpace(text) != "" {
		s.Emit(Piece{Text: text, Rest: s.cut})
	}
	s.line, s.cut = s.line[:0], false
}

// emitPiece emits the beginning of a long line. A possible first half of a character, of a line break or of an escape sequence is left
// for the next piece.
func (s *Splitter) emitPiece() {
	end := len(s.line)
	if at := bytes.LastIndexByte(s.line[end-maxSequence:], '\x1b'); at >= 0 {
		end += at - maxSequence
	}
	for range utf8.UTFMax - 1 {
		if r, size := utf8.DecodeLastRune(s.line[:end]); r != utf8.RuneError || size != 1 {
			break
		}
		end--
	}
	for s.line[end-1] == '\r' && end > 1 {
		end--
	}
	s.Emit(Piece{Text: string(s.line[:end]), Cut: true, Rest: s.cut})
	s.line, s.cut = append(s.line[:0], s.line[end:]...), true
}

// forward reads lines until r ends and passes each to emit.
func forward(r io.Reader, emit func(Piece)) {
	s := &Splitter{Emit: emit}
	_, _ = io.Copy(s, r) // however the stream has ended
	s.End()
}

// Tail keeps the last lines of a process for the message about its death, and only the beginning of each. The zero Tail is empty.
// It is safe for concurrent use.
type Tail struct {
	mu    sync.Mutex // guards lines
	lines []lastLine
}

type lastLine struct {
	text   string // its beginning
	size   int    // of the whole line
	stream int32
	open   bool // more of it may come
}

const (
	tailSize = 40
	tailLine = 8 << 10 // bytes of one line
)

// Add adds a line, or a piece to the last line of its stream.
func (t *Tail) Add(l Line) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if l.Rest {
		t.extend(l)
		return
	}
	if len(t.lines) == tailSize {
		t.lines = append(t.lines[:0], t.lines[1:]...)
	}
	t.lines = append(t.lines, lastLine{redact.Beginning(l.Text, tailLine), len(l.Text), l.Stream, l.Cut})
}

// extend counts a piece. Its line may have been dropped: the other stream has lines too.
func (t *Tail) extend(l Line) {
	for i := range t.lines {
		if line := &t.lines[i]; line.open && line.stream == l.Stream {
			line.size += len(l.Text)
			line.open = l.Cut
		}
	}
}

// Text returns the lines indented below a heading, or "" when there are none.
func (t *Tail) Text(heading string) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.lines) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString(heading)
	for _, l := range t.lines {
		b.WriteString("\n  " + l.text)
		if l.size > len(l.text) {
			b.WriteString(redact.CutNote(len(l.text), l.size))
		}
	}
	return b.String()
}
