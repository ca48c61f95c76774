package await

import (
	"context"
	"sync"
)

// Event is something that happens once and that any number of goroutines may wait for. It is safe for concurrent use.
type Event struct {
	once  sync.Once
	fired chan struct{}
}

// NewEvent returns an event that has not happened.
func NewEvent() *Event { return &Event{fired: make(chan struct{})} }

// Fire makes the event happen. Calls after the first do nothing.
func (e *Event) Fire() { e.once.Do(func() { close(e.fired) }) }

// Fired reports whether the event has happened.
func (e *Event) Fired() bool {
	select {
	case <-e.fired:
		return true
	default:
		return false
	}
}

// Wait returns nil once the event has happened, or the cause of ctx if that ends before.
func (e *Event) Wait(ctx context.Context) error { return e.wait(ctx, nil) }

// wait is Wait under a second context, if it is not nil.
func (e *Event) wait(ctx, second context.Context) error {
	if e.Fired() {
		return nil
	}
	if second == nil {
		second = context.Background()
	}
	select {
	case <-e.fired:
		return nil
	case <-ctx.Done():
	case <-second.Done():
		ctx = second
	}
	if e.Fired() {
		return nil // it may have happened before
	}
	return context.Cause(ctx)
}
