package operation

import (
	"context"

	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/standard"
	"github.com/sluice-iac/sluice/stages/why"
	"github.com/sluice-iac/sluice/state"
)

// Outcome is what an operation has come to.
type Outcome struct {
	standard.Results
	Ended stages.RunResult
	// Err has the failures, ordered by URN; a *multierror.Error; nil if there are none.
	Err error
	// Plan allows what the operation did, or would do; nil when none was to be made, and when the operation failed.
	Plan  *state.Plan
	About why.About
}

// Perform carries out an operation from loading the state to the last event. An error means that nothing was done; how the
// operation went otherwise is in the outcome.
func Perform(ctx context.Context, s Settings) (*Outcome, error) {
	o, err := open(ctx, s)
	if err != nil {
		return nil, err
	}
	ready, err := o.resolve(ctx)
	var p *program
	if err == nil {
		p, err = ready.perform(ctx)
	}
	err = ready.end(ctx, p, err)
	return ready.close(ctx, err), nil
}
