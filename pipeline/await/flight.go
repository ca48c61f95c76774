package await

import (
	"context"
	"errors"
	"sync"
)

// ErrNoResult is the error for the other callers of a [Flight] whose call panicked.
var ErrNoResult = errors.New("the shared call panicked")

// Flight does work once for each key, however many callers need it. A result is kept until [Flight.Forget]. An error goes to
// the callers that wait at that moment and is not kept, so the next caller tries again. If the context of the caller that made the
// call has ended by then, that may be the reason, so those that wait try again as well. The zero value is ready to use. It is safe for
// concurrent use, and no lock is held during a call.
//
// Unlike golang.org/x/sync/singleflight, keys and results have types, results are kept, and every caller waits with its own
// context.
type Flight[K comparable, V any] struct {
	mu    sync.Mutex // guards calls
	calls map[K]*flying[V]
}

// flying is a call that is under way, or its result.
type flying[V any] struct {
	result *Promise[V]
	caller context.Context // of the first caller; nil after a result
}

// Do returns the result of call for key. The first caller makes the call, in its own goroutine; others wait for the
// result, or until their ctx ends. If call panics, the panic goes on in the goroutine that made the call, and the others
// get [ErrNoResult].
func (f *Flight[K, V]) Do(ctx context.Context, key K, call func() (V, error)) (V, error) {
	return f.DoOn(ctx, func(run func()) { run() }, key, call)
}

// DoOn is Do, except that start chooses the goroutine of the call, so that the first caller, too, waits no longer than
// ctx. Start must call its argument once, and may return before that call has ended.
func (f *Flight[K, V]) DoOn(ctx context.Context, start func(run func()), key K, call func() (V, error)) (V, error) {
	for {
		c, isFirst := f.join(ctx, key)
		if isFirst {
			start(func() { f.fly(key, c, call) })
		}
		v, err := c.result.Wait(ctx)
		if err == nil || isFirst || ctx.Err() != nil || c.caller.Err() == nil {
			return v, err
		}
	}
}

// Forget drops the result for key, or the call that is under way: the next caller makes a new one.
func (f *Flight[K, V]) Forget(key K) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.calls, key)
}

func (f *Flight[K, V]) join(ctx context.Context, key K) (c *flying[V], isFirst bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if c, known := f.calls[key]; known {
		return c, false
	}
	if f.calls == nil {
		f.calls = map[K]*flying[V]{}
	}
	c = &flying[V]{NewPromise[V](), ctx}
	f.calls[key] = c
	return c, true
}

func (f *Flight[K, V]) fly(key K, c *flying[V], call func() (V, error)) {
	err := ErrNoResult
	defer func() {
		if err != nil {
			f.drop(key, c)
			c.result.Fail(err)
		}
	}()
	var v V
	if v, err = call(); err == nil {
		c.caller = nil // nobody reads it after a result
		c.result.Resolve(v)
	}
}

// drop removes a call that failed, unless a newer one has taken its place.
func (f *Flight[K, V]) drop(key K, c *flying[V]) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.calls[key] == c {
		delete(f.calls, key)
	}
}
