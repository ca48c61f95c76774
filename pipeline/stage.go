package pipeline

import (
	"context"
	"sync/atomic"

	"github.com/sourcegraph/conc"

	"github.com/sluice-iac/sluice/pipeline/await"
)

// Stage is one typed step. It comes from a constructor, one per run: its functions usually keep state in a closure.
type Stage[In, Out any] struct {
	// Name is the name of the stage in errors. It is required.
	Name string
	// Workers is how many inputs are worked on at once; each result leaves as soon as it is there. 0 means 1, and makes the
	// stage a single writer: Run is never called twice at the same time and may keep unlocked state. See also Unbounded.
	Workers int
	// Buffer is how many results may wait for the next step.
	Buffer int
	// Run works on one input and emits any number of results. If it returns an error or panics, the input is rejected (see
	// [Rejecter]) and the error is reported under the stage's name; results already emitted stay emitted.
	Run func(ctx context.Context, in In, emit Emit[Out]) error
	// Flush is optional. It is called once, when all inputs have been worked on and no Run is active, unless the run is
	// over by then.
	Flush func(ctx context.Context, emit Emit[Out]) error
	// Idle is optional, for a stage that keeps items from one Run to another, where more input may depend on the kept items. It
	// is called each time when no input waits and no Run is active, and no Run begins before it returns. An error ends the run.
	Idle func(ctx context.Context, emit Emit[Out]) error
	// Abandon is optional, for a stage that keeps items from one Run to another. It is called last and once, with the
	// reason, if Flush failed or the run was over before the stage ended; Flush may have run by then. It rejects the
	// items that the stage still keeps.
	Abandon func(reason error)
}

// Via adds a stage to a flow.
func Via[In, Out any](f Flow[In], s Stage[In, Out]) Flow[Out] {
	checkStep(s.Name, s.Workers, s.Buffer)
	mustHave(s.Run != nil, s.Name, "a Run function")
	mustHave(f.start != nil, s.Name, "a flow that begins with From")
	if s.Workers == 0 {
		s.Workers = 1
	}
	return Flow[Out]{start: func(r *run) *link[Out] {
		in := f.start(r)
		n := r.addNode(s.Name)
		a := &stageRun[In, Out]{Stage: s, node: n, in: in, out: newLink[Out](n, s.Buffer)}
		if s.Idle != nil {
			a.quiet = await.NewRWLock()
		}
		r.wg.Go(a.serve)
		return a.out
	}}
}

// stageRun is a stage at work.
type stageRun[In, Out any] struct {
	Stage[In, Out]
	node *node
	in   *link[In]
	out  *link[Out]

	busy  atomic.Int64  // inputs that have been taken; counted only for Idle
	quiet *await.RWLock // Idle excludes Run; nil without Idle
}

func (s *stageRun[In, Out]) serve() {
	defer close(s.out.ch)
	emit := Emit[Out](s.out.send)
	next := s.in.receive
	if s.Workers == Unbounded {
		s.out.turn = make(chan struct{}, 1)
		next = func() (parcel[In], bool) {
			if len(s.out.ch) == cap(s.out.ch) && s.out.takeTurn() {
				s.out.endTurn()
			}
			return s.in.receive()
		}
	}
	runWorkers(s.node.run.ctx, s.Workers, next, func(ctx context.Context, p parcel[In]) { s.process(ctx, p, emit) })
	abandonKept(s.node, s.flush(), s.Abandon)
}

func (s *stageRun[In, Out]) process(ctx context.Context, p parcel[In], emit Emit[Out]) {
	if s.node.run.isOver() {
		drop(s.node, p.value)
		return
	}
	if s.Idle != nil {
		s.busy.Add(1)
		s.quiet.RLock()
		defer s.rest(emit)
	}
	workOn(s.node, p.value, p.arrival, func() error { return s.Run(ctx, p.value, emit) })
}

// rest ends the work on one input. Of several that end at the same time, the last one calls Idle. If another Run has begun by
// then, the rest of that Run calls it.
func (s *stageRun[In, Out]) rest(emit Emit[Out]) {
	s.quiet.RUnlock()
	if s.busy.Add(-1) > 0 || len(s.in.ch) > 0 || !s.quiet.TryLock() {
		return
	}
	defer s.quiet.Unlock()
	if s.node.run.isOver() {
		return
	}
	callAside(func() error { return s.Idle(s.node.run.ctx, emit) }, func(err error) {
		if err != nil {
			s.node.fail(lastRank, err)
		}
	})
}

// flush calls Flush and returns its error as it was reported.
func (s *stageRun[In, Out]) flush() (reported error) {
	if s.Flush == nil || s.node.run.isOver() {
		return nil
	}
	callAside(func() error { return s.Flush(s.node.run.ctx, s.out.send) }, func(err error) {
		if err != nil {
			reported = s.node.fail(lastRank, err)
		}
	})
	return reported
}

// abandonKept is the last thing a step does: if the run is over or Flush failed, it abandons the items that the step
// keeps.
func abandonKept(n *node, flushErr error, abandon func(error)) {
	reason := flushErr
	if reason == nil && n.run.isOver() {
		reason = n.stopped()
	}
	if reason == nil || abandon == nil {
		return
	}
	callAside(func() error { abandon(reason); return nil }, func(err error) {
		if err != nil {
			n.fail(lastRank, err)
		}
	})
}

// callAside calls f in a goroutine of its own, so that the caller survives whatever f does.
func callAside(f func() error, end func(error)) {
	var wg conc.WaitGroup
	wg.Go(func() { Attempt(f, end) })
	wg.Wait()
}
