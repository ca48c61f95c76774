package terminal

import (
	"io"
	"sync"
)

// Gate is a writer whose texts can be held back while the terminal that it writes to shows something else. It is safe for concurrent use.
type Gate struct {
	out io.Writer

	mu   sync.Mutex
	held func(text string) // nil if texts are written
}

// NewGate returns a gate before a writer.
func NewGate(out io.Writer) *Gate { return &Gate{out: out} }

// Write implements [io.Writer].
func (g *Gate) Write(p []byte) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.held != nil {
		g.held(string(p))
		return len(p), nil
	}
	return g.out.Write(p)
}

// Hold passes texts to f instead, until the function that it returns is called. f must not write to the gate.
func (g *Gate) Hold(f func(text string)) (release func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.held = f
	return func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.held = nil
	}
}

// Direct returns what a gate writes to, for processes that get the terminal for themselves; other writers are returned as they are.
func Direct(w io.Writer) io.Writer {
	if g, ok := w.(*Gate); ok {
		return g.out
	}
	return w
}
