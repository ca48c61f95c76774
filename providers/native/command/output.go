package command

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/sluice-iac/sluice/providers/native"
)

// recorder keeps the output of a command and shows it line by line on request.
type recorder struct {
	call native.Call

	mu      sync.Mutex // guards the rest
	streams map[string]*bytes.Buffer
	mixed   bytes.Buffer
	lines   map[string]*bytes.Buffer // the beginning of the line that is being written
}

func newRecorder(c native.Call) *recorder {
	r := &recorder{call: c, streams: map[string]*bytes.Buffer{}, lines: map[string]*bytes.Buffer{}}
	for _, name := range []string{"stdout", "stderr"} {
		r.streams[name], r.lines[name] = &bytes.Buffer{}, &bytes.Buffer{}
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
	w.r.streams[w.name].Write(p)
	w.r.mixed.Write(p)
	line := w.r.lines[w.name]
	line.Write(p)
	for {
		text, err := line.ReadString('\n')
		if err != nil {
			line.WriteString(text)
			return len(p), nil
		}
		w.r.show(w.name, text)
	}
}

func (r *recorder) show(stream, line string) {
	if line = strings.TrimRight(line, "\r\n"); logs(r.call, stream) && line != "" {
		r.call.Log(native.Message{Text: line})
	}
}

// flush shows last lines that have no end.
func (r *recorder) flush() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, name := range []string{"stdout", "stderr"} {
		r.show(name, r.lines[name].String())
		r.lines[name].Reset()
	}
}

// text returns what was written to a stream, without the end of its last line.
func (r *recorder) text(stream string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.TrimSuffix(r.streams[stream].String(), "\n")
}

// failure returns the error of a failed command, with its output in the order in which it came.
func (r *recorder) failure(ctx context.Context, command string, err error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if ctx.Err() != nil {
		err = fmt.Errorf("%w: %w", context.Cause(ctx), err)
	}
	if r.call.Secretive && r.call.Inputs.Text("logging") == "" {
		return fmt.Errorf("%w: running a command with a secret input, whose output is not shown (logging says to show it)", err)
	}
	return fmt.Errorf("%w: running %q:\n%s", err, command, r.mixed.String())
}
