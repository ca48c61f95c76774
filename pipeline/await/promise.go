package await

import (
	"context"
	"sync"
)

// Promise is a value that will be known later. The first of Resolve, Fail and Decide decides it; later ones do nothing. It is
// safe for concurrent use, and any number of goroutines may wait for it.
type Promise[T any] struct {
	decided Event

	mu    sync.Mutex // guards the fields below until decided has fired
	taken bool
	value T
	err   error
}

// NewPromise returns an undecided promise.
func NewPromise[T any]() *Promise[T] { return &Promise[T]{decided: Event{fired: make(chan struct{})}} }

// Resolve decides the promise with a value, and reports whether it was the first to decide it.
func (p *Promise[T]) Resolve(v T) bool { return p.Decide(v, nil) }

// Fail decides the promise with an error, and reports whether it was the first to decide it.
func (p *Promise[T]) Fail(err error) bool {
	var zero T
	return p.Decide(zero, err)
}

// Reject is Fail under the name by which package pipeline ends its items: an item that is or embeds a promise is rejected
// with it.
func (p *Promise[T]) Reject(err error) { p.Fail(err) }

// Decide decides the promise with the results of a call, and reports whether it was the first to decide it.
func (p *Promise[T]) Decide(v T, err error) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.taken {
		return false
	}
	p.taken, p.value, p.err = true, v, err
	p.decided.Fire()
	return true
}

// Decided reports whether Wait would return at once.
func (p *Promise[T]) Decided() bool { return p.decided.Fired() }

// Wait returns the value or error of the promise. If ctx ends before, it returns the cause of ctx.
func (p *Promise[T]) Wait(ctx context.Context) (T, error) { return p.WaitUnder(ctx, nil) }

// WaitUnder is Wait under a second context, if it is not nil: the context that ends first ends the wait, with its cause. It costs less
// than a context that ends with both.
func (p *Promise[T]) WaitUnder(ctx, second context.Context) (T, error) {
	if err := p.decided.wait(ctx, second); err != nil {
		var zero T
		return zero, err
	}
	return p.value, p.err
}
