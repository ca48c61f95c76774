package pipeline

import (
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
	next func() (J, bool)
	work func(J)

	wg            conc.WaitGroup
	started, idle atomic.Int64
}

// runWorkers calls work for every job that next returns, up to size at a time, until next returns false, and waits.
func runWorkers[J any](size int, next func() (J, bool), work func(J)) {
	w := &workers[J]{size: size, next: next, work: work}
	w.start()
	w.wg.Wait()
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
		w.work(job)
		w.idle.Add(1)
	}
}
