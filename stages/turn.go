package stages

import (
	"context"
	"sync"

	"github.com/sluice-iac/sluice/pipeline/await"
)

// Turn is the place of one request in the order of its run: the request goes on when all turns before it are over. A nil Turn is that
// of a request without an order, which never waits. A Turn is safe for concurrent use.
type Turn struct{ before, over *await.Event }

// Wait returns nil once all earlier turns are over, or the cause of ctx if that ends before.
func (t *Turn) Wait(ctx context.Context) error {
	if t == nil || t.before == nil {
		return nil
	}
	return t.before.Wait(ctx)
}

// End waits for the turn and ends it. Calls after the first do nothing. If ctx ends first, so do all turns.
func (t *Turn) End(ctx context.Context) {
	if t != nil {
		_ = t.Wait(ctx)
		t.over.Fire()
	}
}

// Turns gives out turns. It is safe for concurrent use.
type Turns struct {
	mu   sync.Mutex // guards last
	last *await.Event
}

// Submit calls put with the next turn. Calls of put are in the order of the turns.
func (t *Turns) Submit(put func(*Turn) bool) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	next := &Turn{before: t.last, over: await.NewEvent()}
	if !put(next) {
		return false
	}
	t.last = next.over
	return true
}
