package plugin

import (
	"bufio"
	"errors"
	"io"
	"strings"
	"sync"
)

// Line is one line that a plugin wrote after its port.
type Line struct {
	Plugin string // "pulumi-resource-aws"
	Text   string // without the line break; never blank
	Stderr bool
	// Stream distinguishes the two streams of each process; consecutive lines of one stream belong together
	// (protocol.md 1.7).
	Stream int32
}

// maxLine is where a line without an end is cut: a plugin may write binary data to its output.
const maxLine = 64 << 10

// forward reads lines until r ends and hands each to emit.
func forward(r io.Reader, emit func(string)) {
	b := bufio.NewReaderSize(r, maxLine)
	for {
		line, err := b.ReadSlice('\n')
		if text := strings.TrimRight(string(line), "\r\n"); strings.TrimSpace(text) != "" {
			emit(text)
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return
		}
	}
}

// ring keeps the last lines of a process for the message about its death.
type ring struct {
	mu    sync.Mutex // guards lines
	lines []string
}

const ringSize = 40

func (r *ring) add(line string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.lines) == ringSize {
		r.lines = append(r.lines[:0], r.lines[1:]...)
	}
	r.lines = append(r.lines, line)
}

// text returns the lines indented below a heading, or "" when there are none.
func (r *ring) text(heading string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.lines) == 0 {
		return ""
	}
	return heading + "\n  " + strings.Join(r.lines, "\n  ")
}
