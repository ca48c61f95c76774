package operation

import (
	"context"

	"github.com/hashicorp/go-multierror"

	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/standard"
	"github.com/sluice-iac/sluice/stages/why"
	"github.com/sluice-iac/sluice/state"
)

// Outcome is the outcome of an operation.
type Outcome struct {
	Results standard.Results
	Ended   stages.RunResult
	// Err holds the failures, ordered by URN; nil if there are none.
	Err *multierror.Error
	// Interrupt is the reason why the caller's context ended before the run did; nil if it did not.
	Interrupt error
	// Plan allows what the operation did, or would do. It is nil if none was requested, or if the operation failed.
	Plan  *state.Plan
	About why.About
}

// Perform carries out an operation from loading the state to the last event. An error means that nothing was done;
// otherwise the outcome has the failures. A panic in the caller's code is such a failure, or an error.
func Perform(ctx context.Context, s Settings) (*Outcome, error) {
	var o *opened
	over := s.enter("open")
	err := caught("preparing", func() (err error) {
		o, err = open(ctx, s)
		return err
	})
	over()
	if err != nil {
		return nil, err
	}
	ready, r := attempt(ctx, o)
	for found := ready.run.Migrations(); len(found) > 0; found = ready.run.Migrations() {
		beginAgain(ctx, o, ready, r, found)
		ready, r = attempt(ctx, o)
	}
	over = s.enter("end")
	e := end(ctx, ready, r)
	over()
	defer s.enter("close")()
	return close(ctx, ready, e), nil
}

// attempt is the second and the third phase.
func attempt(ctx context.Context, o *opened) (*resolved, ran) {
	over := o.settings.enter("resolve")
	ready, err := resolve(ctx, o)
	over()
	if err != nil {
		return ready, ran{err: err}
	}
	defer o.settings.enter("run")()
	return ready, run(ctx, ready)
}
