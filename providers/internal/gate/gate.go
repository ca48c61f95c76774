// Package gate has a result that arrives later. It is for the packages below providers, which own no channels; it is no
// general replacement for channels, because it carries one error once.
//
// Invariant: every wait sees the same result, and none outlives its own context.
package gate

import (
	"context"
	"errors"
	"sync"
)

// Gate is a result that arrives later and once: any number of goroutines wait for it, and a wait ends early with its own
// context. It is a context underneath, which is what lets a wait listen to two things at a time. Make one with [New].
type Gate struct {
	once   sync.Once
	opened context.Context
	cancel context.CancelCauseFunc
}

// errOpened stands for "no error": a context needs a reason to be over.
var errOpened = errors.New("opened")

// New returns a closed gate.
func New() *Gate {
	g := &Gate{}
	g.opened, g.cancel = context.WithCancelCause(context.Background())
	return g
}

// Open gives every waiter err, which may be nil. Only the first call counts.
func (g *Gate) Open(err error) {
	g.once.Do(func() {
		if err == nil {
			err = errOpened
		}
		g.cancel(err)
	})
}

// Wait returns what the gate was opened with, or the cause of ctx's end if that comes first.
func (g *Gate) Wait(ctx context.Context) error {
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
func (g *Gate) result() error {
	if err := context.Cause(g.opened); err != errOpened {
		return err
	}
	return nil
}

// IsOpen tells whether the gate has been opened.
func (g *Gate) IsOpen() bool { return g.opened.Err() != nil }

// Then runs f on its own goroutine once the gate is open, at once if it is. stop has the meaning of that of
// [context.AfterFunc].
func (g *Gate) Then(f func(err error)) (stop func() bool) {
	return context.AfterFunc(g.opened, func() { f(g.result()) })
}
