package providers

import (
	"context"
	"errors"
	"sync"
)

// gate is a result that arrives later and once: any number of goroutines wait for it, and a wait ends early with its own
// context. It is a context underneath, which is what lets a wait listen to two things at a time.
type gate struct {
	once   sync.Once
	opened context.Context
	cancel context.CancelCauseFunc
}

// errOpened stands for "no error": a context needs a reason to be over.
var errOpened = errors.New("opened")

func newGate() *gate {
	g := &gate{}
	g.opened, g.cancel = context.WithCancelCause(context.Background())
	return g
}

// open gives every waiter err, which may be nil. Only the first call counts.
func (g *gate) open(err error) {
	g.once.Do(func() {
		if err == nil {
			err = errOpened
		}
		g.cancel(err)
	})
}

// wait returns what the gate was opened with, or the cause of ctx's end if that comes first.
func (g *gate) wait(ctx context.Context) error {
	select {
	case <-g.opened.Done():
		return g.result()
	default:
	}
	select {
	case <-g.opened.Done():
		return g.result()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// result returns what the gate was opened with. It must have been opened.
func (g *gate) result() error {
	if err := context.Cause(g.opened); err != errOpened {
		return err
	}
	return nil
}
