package terminal

import (
	"io"
	"sync"
)

// gate is a writer whose texts can be diverted while the terminal shows something else. It is safe for concurrent use.
type gate struct {
	out io.Writer

	mu   sync.Mutex
	held func(text string) // nil if texts are written
}

// Write implements [io.Writer].
func (g *gate) Write(p []byte) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.held != nil {
		g.held(string(p))
		return len(p), nil
	}
	return g.out.Write(p)
}

// hold diverts texts to f until release is called. f must not write to the gate.
func (g *gate) hold(f func(text string)) (release func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.held = f
	return func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.held = nil
	}
}
