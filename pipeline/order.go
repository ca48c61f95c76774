package pipeline

import (
	"context"
	"sync"

	"github.com/sourcegraph/conc"

	"github.com/sluice-iac/sluice/pipeline/await"
)

// ordered is an input with the place of its results.
type ordered[In, Out any] struct {
	parcel parcel[In]
	place  *place[Out]
}

// serveAsArrived gives each input a place in a queue before any worker sees it, and lets the places out in turn. Places
// are counted, so that a slow first one stops the intake soon.
func (s *stageRun[In, Out]) serveAsArrived() {
	ctx := context.Background() // these waits end because workers end, also after the run's context
	ahead := await.NewSlots(s.ahead())
	places := await.NewMailbox[*place[Out]]()
	jobs := make(chan ordered[In, Out])

	var wg conc.WaitGroup
	wg.Go(func() {
		defer close(jobs)
		defer places.Close()
		for {
			_ = ahead.Acquire(ctx)
			p, ok := s.in.receive()
			if !ok {
				return
			}
			at := &place[Out]{out: s.out, done: await.NewEvent()}
			places.Put(at)
			jobs <- ordered[In, Out]{parcel: p, place: at}
		}
	})
	wg.Go(func() {
		for {
			at, ok := places.Take(ctx)
			if !ok {
				return
			}
			at.takeTurn(ctx)
			ahead.Release()
		}
	})
	take := func() (ordered[In, Out], bool) { j, ok := <-jobs; return j, ok }
	runCrew(s.Workers, take, func(j ordered[In, Out]) {
		defer j.place.finish()
		s.process(j.parcel, j.place.emit)
	})
	wg.Wait()
}

func (s *stageRun[In, Out]) ahead() int {
	if s.Workers == Unbounded {
		return Unbounded
	}
	return s.Workers + s.Buffer
}

// place holds the results of one input until it is their turn. From then on results go straight to the next step, so the
// first input feels the next step's pace, and the others, which may hold what the first one waits for, never block.
type place[T any] struct {
	out  *link[T]
	done *await.Event // the input has been worked on

	mu      sync.Mutex // guards what follows
	waiting []T
	direct  bool
}

func (p *place[T]) emit(v T) error {
	p.mu.Lock()
	if p.direct {
		p.mu.Unlock()
		return p.out.send(v)
	}
	p.waiting = append(p.waiting, v)
	p.mu.Unlock()
	if p.out.from.run.isOver() {
		return ErrStopped // v is settled by takeTurn
	}
	return nil
}

func (p *place[T]) finish() { p.done.Fire() }

// takeTurn sends what waits, opens the direct way, and returns when the input is done.
func (p *place[T]) takeTurn(ctx context.Context) {
	for {
		p.mu.Lock()
		batch := p.waiting
		p.waiting = nil
		p.direct = len(batch) == 0
		p.mu.Unlock()
		if len(batch) == 0 {
			_ = p.done.Wait(ctx)
			return
		}
		for _, v := range batch {
			_ = p.out.send(v) // a value that cannot be sent is settled by send
		}
	}
}
