package main

import (
	"context"
	"slices"
	"time"

	"github.com/sourcegraph/conc"
)

// The pace of a machine is how much processor time the same work takes, compared with a quiet machine of the kind that the budgets are for. It is
// above 1 where others use the caches, the memory and the other half of a core, which doubles the processor time of everything on a busy host.

// quietSample is the processor time of [sample] on a quiet machine.
const quietSample = 20 * time.Millisecond

// between is the time between two samples: they take a five-hundredth of it.
const between = 10 * time.Second

// sampler measures the pace until it is stopped.
type sampler struct {
	stop    context.CancelFunc
	running conc.WaitGroup
	took    []time.Duration // in the end
}

func startSampler() *sampler {
	ctx, stop := context.WithCancel(context.Background())
	s := &sampler{stop: stop}
	s.running.Go(func() {
		w := newWork()
		for {
			s.took = append(s.took, w.sample())
			select {
			case <-ctx.Done():
				return
			case <-time.After(between):
			}
		}
	})
	return s
}

// end stops the sampler, waits for it and returns the pace, 1 if the system does not tell the processor time of a thread.
func (s *sampler) end() float64 {
	s.stop()
	s.running.Wait()
	return paceOf(s.took)
}

func paceOf(took []time.Duration) float64 {
	var sum time.Duration
	for _, t := range took {
		sum += t
	}
	return max(1, float64(sum)/float64(len(took))/float64(quietSample))
}

// work is always the same, and like that of tests it needs the memory as much as the processor.
type work struct {
	numbers, sorted []uint64
	places          map[uint64]int
	sum             int // so that nothing is left out
}

func newWork() *work {
	const size = 1 << 17
	w := &work{numbers: make([]uint64, size), sorted: make([]uint64, size), places: make(map[uint64]int, size)}
	x := uint64(1)
	for i := range w.numbers {
		x = x*6364136223846793005 + 1442695040888963407
		w.numbers[i] = x
		w.places[x] = i
	}
	return w
}

// sample does the work once and returns its processor time, 0 if the system does not tell it.
func (w *work) sample() time.Duration {
	return threadTime(func() {
		copy(w.sorted, w.numbers)
		slices.Sort(w.sorted)
		for _, n := range w.sorted {
			w.sum += w.places[n]
		}
	})
}
