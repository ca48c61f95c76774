package control

import (
	"context"
	"sync"
	"time"

	"github.com/sluice-iac/sluice/pipeline/await"
	"github.com/sluice-iac/sluice/stages"
)

// Control is how a run proceeds and ends: its contexts, what stops it, its failures, and its events and diagnostics. It is
// safe for concurrent use.
type Control struct {
	Info stages.RunInfo
	// Now is the clock by which states and events are stamped.
	Now func() time.Time

	observe func(stages.Event) // nil discards
	Failed  *failures
	halted  *await.Event // fired when no further step may start
	over    *await.Event // fired when the run is completely done
	mu      sync.Mutex   // guards running, and what changes together with it: halted, and the end of Answering
	running int          // steps under way
	// Admitted is the context of everything that leads to decisions; it ends when the run halts.
	Admitted context.Context
	stop     context.CancelCauseFunc
	// Answering is the context of requests of programs: it ends when they get no more answers, with ErrShutDown.
	Answering context.Context
	hangUp    context.CancelCauseFunc
	// Operations is the context of provider calls that change something: it outlives the pipeline's, so that what is
	// running when the run stops can finish.
	Operations context.Context
	// Admit waits while no task may begin, or until its context ends; nil does not wait.
	Admit func(context.Context) error
}

func NewControl(ctx context.Context, info stages.RunInfo, now func() time.Time, observe func(stages.Event)) *Control {
	c := &Control{
		Info: info, Now: now, observe: observe, Failed: &failures{},
		halted: await.NewEvent(), over: await.NewEvent(), Operations: ctx,
	}
	c.Admitted, c.stop = context.WithCancelCause(ctx)
	c.Answering, c.hangUp = context.WithCancelCause(ctx)
	return c
}

// Halt prevents further steps; running ones finish. When none is running, programs get no more answers.
func (r *Control) Halt() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.halted.Fire()
	r.stop(stages.ErrShutDown)
	if r.running == 0 {
		r.hangUp(stages.ErrShutDown)
	}
}

// AwaitAdmission waits while the operation is paused. If the run is halted meanwhile, [Control.Enter] refuses.
func (r *Control) AwaitAdmission() {
	if r.Admit != nil {
		_ = r.Admit(r.Admitted)
	}
}

// Enter counts a step that is about to run; it refuses when the run is halted.
func (r *Control) Enter() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.halted.Fired() {
		return false
	}
	r.running++
	return true
}

// Leave ends a step that [Control.Enter] has counted, and has answer give the program its reply; nil gives none. Both are one action: what the
// program does after the reply finds that the step is over.
func (r *Control) Leave(answer func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if answer != nil {
		answer()
	}
	if r.running--; r.running == 0 && r.halted.Fired() {
		r.hangUp(stages.ErrShutDown)
	}
}

// IsAnswering reports whether programs still get answers.
func (r *Control) IsAnswering() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.Answering.Err() == nil
}

// ShutDown ends everything that still waits. The run is over.
func (r *Control) ShutDown() {
	r.halted.Fire()
	r.stop(stages.ErrShutDown)
	r.over.Fire()
	r.hangUp(stages.ErrShutDown)
}

// AwaitEnd waits until the run is completely done, or ctx ends.
func (r *Control) AwaitEnd(ctx context.Context) error { return r.over.Wait(ctx) }

// IsHalted reports whether steps may no longer start.
func (r *Control) IsHalted() bool { return r.halted.Fired() }

// DryRun reports whether the run only predicts.
func (r *Control) DryRun() bool { return r.Info.DryRun }
