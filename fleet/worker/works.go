package worker

import (
	"context"
	"sync"

	"github.com/sluice-iac/sluice/pipeline/await"
)

// works are the stacks that this worker works on. An attempt that the server has given up, for want of heartbeats, may still go on here; the next one
// does not begin beside it.
type works struct {
	mu  sync.Mutex // guards now
	now map[string]*await.Event
}

func newWorks() *works { return &works{now: map[string]*await.Event{}} }

// begin waits until no other attempt works on a stack, and notes this one until the returned function is called.
func (w *works) begin(ctx context.Context, stack string) (end func(), err error) {
	if w == nil {
		return func() {}, nil
	}
	for {
		w.mu.Lock()
		before := w.now[stack]
		if before == nil {
			over := await.NewEvent()
			w.now[stack] = over
			w.mu.Unlock()
			return func() {
				w.mu.Lock()
				defer w.mu.Unlock()
				delete(w.now, stack)
				over.Fire()
			}, nil
		}
		w.mu.Unlock()
		if err := before.Wait(ctx); err != nil {
			return nil, err
		}
	}
}
