package pipeline

import (
	"context"
	"sync/atomic"

	"github.com/sourcegraph/conc"
)

// Unbounded, as a number of workers, means a goroutine for each input. It is for work that may call back into the program that feeds
// the pipeline, directly or by waiting for it: in a limited pool such work can use up the workers that it waits for. Waiting for room
// in the next step is different: meanwhile a stage takes no further input.
const Unbounded = -1

// workers is a set of goroutines that take jobs until there are none. A goroutine is added only when all are busy, so a
// large size costs nothing until it is needed.
type workers[J any] struct {
	size int // the most goroutines, or Unbounded
	ctx  context.Context
	next func() (J, bool)
	work func(context.Context, J)

	wg            conc.WaitGroup
	started, idle atomic.Int64
}

// runWorkers calls work for every job that next returns, up to size at a time, until next returns false, and waits. Jobs get a context derived from
// ctx, for [WaitForOthers].
func runWorkers[J any](ctx context.Context, size int, next func() (J, bool), work func(context.Context, J)) {
	w := &workers[J]{size: size, next: next, work: work}
	w.ctx = context.WithValue(ctx, standIns{}, w.withStandIn)
	w.start()
	w.wg.Wait()
}

// standIns is the key of a function that calls another one, and starts a worker that stands in for the calling one meanwhile.
type standIns struct{}

// WaitForOthers returns the result of wait, which waits for something that other items of the run lead to. Such waits could use up the workers that
// those items need; so the caller, which works on an item with the given context or one derived from it, does not count as a worker meanwhile.
// That does not change a stage with one worker: it stays a single writer, and must not wait for items that come after.
func WaitForOthers(ctx context.Context, wait func() error) error {
	if with, ok := ctx.Value(standIns{}).(func(func() error) error); ok {
		return with(wait)
	}
	return wait()
}

func (w *workers[J]) start() {
	for {
		n := w.started.Load()
		if w.size != Unbounded && n >= int64(w.size) {
			return
		}
		if w.started.CompareAndSwap(n, n+1) {
			break
		}
	}
	w.idle.Add(1)
	w.wg.Go(w.run)
}

// withStandIn calls wait in a worker. Another one may be started, and one too many ends later, after its work.
func (w *workers[J]) withStandIn(wait func() error) error {
	if w.size == 1 || w.size == Unbounded {
		return wait()
	}
	w.started.Add(-1)
	defer w.started.Add(1)
	if w.idle.Load() == 0 {
		w.start()
	}
	return wait()
}

// mayLeave reports whether there is one worker too many, which ends.
func (w *workers[J]) mayLeave() bool {
	for {
		n := w.started.Load()
		if w.size == Unbounded || n <= int64(w.size) {
			return false
		}
		if w.started.CompareAndSwap(n, n-1) {
			return true
		}
	}
}

func (w *workers[J]) run() {
	ended := false
	defer func() {
		// work has ended this goroutine. Another one must take its place, or jobs might never be taken.
		if !ended {
			w.idle.Add(1)
			w.wg.Go(w.run)
		}
	}()
	for {
		job, ok := w.next()
		if !ok {
			ended = true
			return
		}
		if w.idle.Add(-1) == 0 {
			w.start()
		}
		w.work(w.ctx, job)
		if w.mayLeave() {
			ended = true
			return
		}
		w.idle.Add(1)
	}
}
