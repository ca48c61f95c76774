package worker

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// Limits on the kept output of other processes, in bytes.
const (
	mostLog    = 64 << 20 // of the log of one operation
	mostOutput = 16 << 20 // of the output of a command of sluice
	mostSaid   = 64 << 10 // of the error output of a process
	mostText   = 4 << 10  // of a text in an outcome
	mostLine   = 1 << 20  // of a line of events
	mostErrors = 100      // errors of an operation that are evaluated
	mostReads  = 10_000   // references of a stack
	mostTitle  = 200      // of the name of a resource in a heartbeat
)

// shortened returns a text cut to a number of bytes, with a note if it was longer.
func shortened(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return fmt.Sprintf("%s… (%d bytes are left out)", text[:most], len(text)-most)
}

// logWriter writes the output of an operation to the log, up to a limit. In memory it holds only the end of the output. It is safe for concurrent
// use.
type logWriter struct {
	mu   sync.Mutex // guards the rest
	file *os.File
	room int64
	left int64  // bytes omitted from the file
	last []byte // the end of the output, up to twice as long as tail
}

func newLogWriter(file *os.File) *logWriter { return &logWriter{file: file, room: mostLog} }

// Write implements [io.Writer]. An error of the log does not end the operation.
func (l *logWriter) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	fits := min(int64(len(p)), l.room)
	if fits > 0 {
		_, _ = l.file.Write(p[:fits])
	}
	l.room -= fits
	l.left += int64(len(p)) - fits
	if len(p) >= tail {
		l.last = append(l.last[:0], p[len(p)-tail:]...)
		return len(p), nil
	}
	if len(l.last)+len(p) > 2*tail {
		l.last = slices.Delete(l.last, 0, len(l.last)-tail)
	}
	l.last = append(l.last, p...)
	return len(p), nil
}

// end writes a note about omitted output to the log, and returns the end of the output.
func (l *logWriter) end() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	last := l.last[max(0, len(l.last)-tail):]
	if l.left > 0 {
		fmt.Fprintf(l.file, "\n… %d bytes are left out here: the log of an operation has at most %d. What was printed last:\n%s", l.left, mostLog, last)
	}
	return strings.ToValidUTF8(string(last), "")
}

// limited keeps the beginning and the end of the data written to it.
type limited struct {
	most  int
	first []byte
	last  []byte
	left  int
}

// Write implements [io.Writer].
func (l *limited) Write(p []byte) (int, error) {
	all := len(p)
	fits := min(len(p), l.most/2-len(l.first))
	l.first, p = append(l.first, p[:fits]...), p[fits:]
	l.last = append(l.last, p...)
	if over := len(l.last) - l.most/2; over > 0 && len(l.last) > l.most {
		l.left += over
		l.last = slices.Delete(l.last, 0, over)
	}
	return all, nil
}

// text returns the data, with a note about the omitted part.
func (l *limited) text() string {
	last, left := l.last, l.left
	if over := len(last) - l.most/2; over > 0 {
		last, left = last[over:], left+over
	}
	if left == 0 {
		return string(l.first) + string(last)
	}
	return strings.ToValidUTF8(fmt.Sprintf("%s\n… %d bytes are left out …\n%s", l.first, left, last), "")
}
