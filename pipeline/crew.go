package pipeline

import (
	"sync/atomic"

	"github.com/sourcegraph/conc"
)

// Unbounded, as a number of workers, means a goroutine for each input that is being worked on. It is for work that may
// call back into the program that feeds the pipeline, directly or by waiting for it: such work held in a limited pool
// can use up the places that the work it waits for needs.
const Unbounded = -1

// crew is a set of goroutines that take jobs until there are none. A goroutine is added only when all are busy, so a
// large size costs nothing until it is needed.
type crew[J any] struct {
	size int // the most goroutines, or Unbounded
	next func() (J, bool)
	work func(J)

	wg          conc.WaitGroup
	hired, idle atomic.Int64
}

// runCrew calls work for every job that next returns, up to size at a time, until next returns false, and waits.
func runCrew[J any](size int, next func() (J, bool), work func(J)) {
	c := &crew[J]{size: size, next: next, work: work}
	c.hire()
	c.wg.Wait()
}

func (c *crew[J]) hire() {
	for {
		n := c.hired.Load()
		if c.size != Unbounded && n >= int64(c.size) {
			return
		}
		if c.hired.CompareAndSwap(n, n+1) {
			break
		}
	}
	c.idle.Add(1)
	c.wg.Go(c.shift)
}

func (c *crew[J]) shift() {
	ended := false
	defer func() {
		// The work has ended its goroutine. Somebody must take its place, or jobs might never be taken.
		if !ended {
			c.idle.Add(1)
			c.wg.Go(c.shift)
		}
	}()
	for {
		job, ok := c.next()
		if !ok {
			ended = true
			return
		}
		if c.idle.Add(-1) == 0 {
			c.hire()
		}
		c.work(job)
		c.idle.Add(1)
	}
}
