package control

import (
	"context"
	"sync"
	"time"

	"github.com/sluice-iac/sluice/pipeline/await"
	"github.com/sluice-iac/sluice/stages"
)

// Control controls a run: its contexts, its end, its failures, and its events and diagnostics. It is safe for concurrent use.
type Control struct {
	Info stages.RunInfo
	// Now is the clock for the times in states and events.
	Now func() time.Time

	observe func(stages.Event) // nil discards
	Failed  *failures
	halted  *await.Event // fired when no further step may start
	over    *await.Event // fired when the run is completely done
	mu      sync.Mutex   // guards running, and the changes that go with it: halted, and the end of Answering
	running int          // steps under way
	// Admitted is the context of all work that leads to decisions; it ends when the run halts.
	Admitted context.Context
	stop     context.CancelCauseFunc
	// Answering is the context of requests of programs: it ends when they get no more answers, with ErrShutDown.
	Answering context.Context
	hangUp    context.CancelCauseFunc
	// Operations is the context of provider calls that change something. It outlives the pipeline's, so that running calls can
	// finish when the run stops.
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
func (c *Control) Halt() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.halted.Fire()
	c.stop(stages.ErrShutDown)
	if c.running == 0 {
		c.hangUp(stages.ErrShutDown)
	}
}

// AwaitAdmission waits while the operation is paused. If the run is halted meanwhile, [Control.Enter] refuses.
func (c *Control) AwaitAdmission() {
	if c.Admit != nil {
		_ = c.Admit(c.Admitted)
	}
}

// Enter counts a step that is about to run. It refuses if the run is halted.
func (c *Control) Enter() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.halted.Fired() {
		return false
	}
	c.running++
	return true
}

// Leave ends a step that [Control.Enter] has counted, and calls answer, which gives the program its reply; nil gives none. Both are
// one action, so that the step is over for anything that the program does after the reply.
func (c *Control) Leave(answer func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if answer != nil {
		answer()
	}
	if c.running--; c.running == 0 && c.halted.Fired() {
		c.hangUp(stages.ErrShutDown)
	}
}

// IsAnswering reports whether programs still get answers.
func (c *Control) IsAnswering() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.Answering.Err() == nil
}

// ShutDown ends all waiting calls. The run is over.
func (c *Control) ShutDown() {
	c.halted.Fire()
	c.stop(stages.ErrShutDown)
	c.over.Fire()
	c.hangUp(stages.ErrShutDown)
}

// AwaitEnd waits until the run is completely done, or ctx ends.
func (c *Control) AwaitEnd(ctx context.Context) error { return c.over.Wait(ctx) }

// IsHalted reports whether steps may no longer start.
func (c *Control) IsHalted() bool { return c.halted.Fired() }

// DryRun reports whether the run only predicts.
func (c *Control) DryRun() bool { return c.Info.DryRun }
