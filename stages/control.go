package stages

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/sluice-iac/sluice/pipeline/await"
)

// control is how a run goes on and how it ends: its contexts, what stops it, what went wrong, and what is told to whoever
// watches. It is safe for concurrent use.
type control struct {
	Info RunInfo
	// Now is the clock by which states and events are stamped.
	Now func() time.Time

	events   *events
	failures *failures
	halted   *await.Event // fired when no further step may start
	over     *await.Event // fired when the run is completely done
	running  atomic.Int64 // steps under way
	// admission is the context of everything that leads to decisions; it ends when the run halts.
	admission context.Context
	stop      context.CancelCauseFunc
	// answering is the context of requests of programs: it ends when they get no more answers, with ErrShutDown.
	answering context.Context
	hangUp    context.CancelCauseFunc
	// operations is the context of provider calls that change something: it outlives the pipeline's, so that what is
	// running when the run stops can finish.
	operations context.Context
}

func newControl(ctx context.Context, info RunInfo, now func() time.Time, observe func(Event)) *control {
	c := &control{
		Info: info, Now: now, events: &events{observe: observe}, failures: &failures{},
		halted: await.NewEvent(), over: await.NewEvent(), operations: ctx,
	}
	c.admission, c.stop = context.WithCancelCause(ctx)
	c.answering, c.hangUp = context.WithCancelCause(ctx)
	return c
}

// Halt lets no further step start; running ones finish. When none is running, programs get no more answers.
func (r *control) Halt() {
	r.halted.Fire()
	r.stop(ErrShutDown)
	if r.running.Load() == 0 {
		r.hangUp(ErrShutDown)
	}
}

// Admission is the context that the pipeline is to run under: it ends when the run halts.
func (r *control) Admission() context.Context { return r.admission }

// enter counts a step that is about to run; it refuses when the run is halted.
func (r *control) enter() bool {
	r.running.Add(1)
	if r.halted.Fired() {
		r.leave()
		return false
	}
	return true
}

func (r *control) leave() {
	if r.running.Add(-1) == 0 && r.halted.Fired() {
		r.hangUp(ErrShutDown)
	}
}

// shutDown ends everything that still waits. The run is over.
func (r *control) shutDown() {
	r.halted.Fire()
	r.stop(ErrShutDown)
	r.over.Fire()
	r.hangUp(ErrShutDown)
}

// IsHalted tells whether steps may no longer start.
func (r *control) IsHalted() bool { return r.halted.Fired() }

// DryRun tells whether the run only predicts.
func (r *control) DryRun() bool { return r.Info.DryRun }
