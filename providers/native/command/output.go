package command

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/sluice-iac/sluice/property/redact"
	"github.com/sluice-iac/sluice/providers/native"
)

// recorder keeps the output of a command and shows it line by line on request.
type recorder struct {
	call native.Call

	mu      sync.Mutex // guards the fields below
	streams map[string]*record
	mixed   bytes.Buffer             // the last lines of both
	left    int                      // bytes that were dropped before mixed
	lines   map[string]*bytes.Buffer // the beginning of the line that is being written
	over    map[string]int           // bytes of that line beyond its limit
}

// maxMixed is the number of bytes of output in the error of a command that fails.
const maxMixed = redact.MaxMessage / 2

func newRecorder(c native.Call) *recorder {
	r := &recorder{call: c, streams: map[string]*record{}, lines: map[string]*bytes.Buffer{}, over: map[string]int{}}
	for _, name := range []string{"stdout", "stderr"} {
		r.streams[name], r.lines[name] = &record{}, &bytes.Buffer{}
	}
	return r
}

type writer struct {
	r    *recorder
	name string
}

func (r *recorder) writer(stream string) io.Writer { return writer{r, stream} }

func (w writer) Write(p []byte) (int, error) {
	w.r.mu.Lock()
	defer w.r.mu.Unlock()
	w.r.streams[w.name].write(p)
	line := w.r.lines[w.name]
	for part := range bytes.Lines(p) {
		fits := max(min(len(part), redact.MaxMessage-line.Len()), 0)
		line.Write(part[:fits])
		w.r.over[w.name] += len(part) - fits
		if bytes.HasSuffix(part, []byte("\n")) {
			w.r.take(w.name)
		}
	}
	return len(p), nil
}

// take shows and keeps the line that has been written. Whole lines are mixed, so that output of the other stream cannot cut a
// secret in two.
func (r *recorder) take(stream string) {
	line := r.lines[stream].String()
	if over := r.over[stream]; over > 0 {
		line = strings.TrimSuffix(line, "\n")
		kept := redact.Beginning(line, len(line)-1)
		line = kept + redact.CutNote(len(kept), len(line)+over) + "\n"
	}
	r.over[stream] = 0
	r.lines[stream].Reset()
	r.show(stream, line)
	r.mixed.WriteString(redact.Cut(line, maxMixed))
	if surplus := r.mixed.Len() - maxMixed; surplus > maxMixed {
		text := r.mixed.Bytes()
		end := surplus + bytes.IndexByte(text[surplus:], '\n') + 1
		if end == len(text) {
			end = bytes.LastIndexByte(text[:end-1], '\n') + 1
		}
		r.left += len(r.mixed.Next(end))
	}
}

func (r *recorder) show(stream, line string) {
	if line = strings.TrimRight(line, "\r\n"); logs(r.call, stream) && line != "" {
		r.call.Log(native.Message{Text: line})
	}
}

// flush shows the last lines, which have no end.
func (r *recorder) flush() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, name := range []string{"stdout", "stderr"} {
		if left := r.streams[name].left; left > 0 {
			r.call.Log(native.Message{Warning: true, Text: fmt.Sprintf("the command has printed more to %s than is recorded: %d bytes in the middle are left out", name, left)})
		}
		if r.lines[name].Len() > 0 {
			r.lines[name].WriteByte('\n')
			r.take(name)
		}
	}
}

// text returns the output of a stream, without the end of its last line.
func (r *recorder) text(stream string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.streams[stream].text()
}

// failure returns the error of a failed command, with its output in the order in which it came.
func (r *recorder) failure(ctx context.Context, command string, err error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if ctx.Err() != nil {
		err = fmt.Errorf("%w: %w", context.Cause(ctx), err)
	}
	if r.call.Secretive && r.call.Inputs.Text("logging") == "" {
		return fmt.Errorf("%w: running a command with a secret input, whose output is not shown (set logging to show it)", err)
	}
	said := r.mixed.String()
	if r.left > 0 {
		said = fmt.Sprintf("... (%d bytes before this are left out)\n%s", r.left, said)
	}
	return fmt.Errorf("%w: running %q:\n%s", err, redact.Cut(command, maxMixed/2), said)
}
