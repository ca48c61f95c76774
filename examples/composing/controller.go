package composing

import (
	"context"
	"time"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/pipeline/await"
	"github.com/sluice-iac/sluice/state"
)

// Controller keeps the objects of a stack as its program declares them, whatever others do to them.
type Controller struct {
	// Options are those of each update; Locked supplies the State.
	Options sluice.Options
	// Locked calls f with the state while the stack is locked.
	Locked func(ctx context.Context, f func(context.Context, state.Store) error) error
	// Interval is the time between two reconciliations. After a failure it is doubled each time, up to Longest.
	Interval, Longest time.Duration
	// Reconciled is called after each reconciliation.
	Reconciled func(*sluice.Result, error)
}

// Run reconciles until the context ends, and returns its cause. It finishes a running reconciliation first.
func (c *Controller) Run(ctx context.Context) error {
	wait := c.Interval
	for {
		result, err := c.reconcile(ctx)
		c.Reconciled(result, err)
		if err == nil {
			wait = c.Interval
		} else {
			wait = min(2*wait, c.Longest)
		}
		if err := await.For(ctx, wait); err != nil {
			return err
		}
	}
}

// reconcile reads the objects, and changes those that differ. A preview comes first, so that nothing is recorded, and the history gets no entry, if
// nothing has changed.
func (c *Controller) reconcile(ctx context.Context) (result *sluice.Result, err error) {
	err = c.Locked(ctx, func(ctx context.Context, s state.Store) error {
		o := c.Options
		o.State, o.Refresh = s, true
		if result, err = sluice.Preview(ctx, o); err != nil || !result.HasChanges() {
			return err
		}
		result, err = sluice.Update(ctx, o)
		return err
	})
	return result, err
}
