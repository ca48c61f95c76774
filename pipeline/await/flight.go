package await

import (
	"context"
	"errors"
	"sync"
)

// ErrNoResult is the error for the other callers of a [Flight] whose call panicked.
var ErrNoResult = errors.New("the shared call panicked")

// Flight does work once for each key, however many callers need it. A result is kept until [Flight.Forget]. An error goes to
// the callers that wait at that moment and is not kept, so the next caller tries again. The zero value is ready to use. It
// is safe for concurrent use, and no lock is held during a call.
//
// Unlike golang.org/x/sync/singleflight, keys and results have types, results are kept, and every caller waits with its own
// context.
type Flight[K comparable, V any] struct {
	mu    sync.Mutex // guards calls
	calls map[K]*Promise[V]
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
	promise, isFirst := f.join(key)
	if isFirst {
		start(func() { f.fly(key, promise, call) })
	}
	return promise.Wait(ctx)
}

// Forget drops the result for key, or the call that is under way: the next caller makes a new one.
func (f *Flight[K, V]) Forget(key K) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.calls, key)
}

func (f *Flight[K, V]) join(key K) (promise *Promise[V], isFirst bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if promise, known := f.calls[key]; known {
		return promise, false
	}
	if f.calls == nil {
		f.calls = map[K]*Promise[V]{}
	}
	promise = NewPromise[V]()
	f.calls[key] = promise
	return promise, true
}

func (f *Flight[K, V]) fly(key K, promise *Promise[V], call func() (V, error)) {
	err := ErrNoResult
	defer func() {
		if err != nil {
			f.drop(key, promise)
			promise.Fail(err)
		}
	}()
	var v V
	if v, err = call(); err == nil {
		promise.Resolve(v)
	}
}

// drop removes a call that failed, unless a newer one has taken its place.
func (f *Flight[K, V]) drop(key K, promise *Promise[V]) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.calls[key] == promise {
		delete(f.calls, key)
	}
}
