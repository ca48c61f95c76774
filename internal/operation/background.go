package operation

import (
	"sync"

	"github.com/sourcegraph/conc"
)

// background has the goroutines of an operation, which waits for them at its end. The zero value is ready to use.
type background struct {
	mu    sync.Mutex // guards the rest: the operation may be interrupted while it ends
	ended bool
	group conc.WaitGroup
}

// run calls f in a goroutine. It does nothing if the operation has ended.
func (b *background) run(f func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.ended {
		b.group.Go(f)
	}
}

// end waits for the running goroutines. Later calls of run do nothing.
func (b *background) end() {
	b.mu.Lock()
	b.ended = true
	b.mu.Unlock()
	b.group.Wait()
}
