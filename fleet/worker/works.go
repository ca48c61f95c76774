package worker

import (
	"context"
	"sync"

	"github.com/sluice-iac/sluice/pipeline/await"
)

// works are the stacks with a running attempt on this worker. An attempt that the server has given up for lack of heartbeats may still run here; the
// next one waits for it.
type works struct {
	mu  sync.Mutex // guards now
	now map[string]*await.Event
}

func newWorks() *works { return &works{now: map[string]*await.Event{}} }

// begin waits until no other attempt runs on a stack, and registers this one until end is called.
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
