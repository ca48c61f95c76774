package operation

import (
	"context"
	"fmt"

	"github.com/sluice-iac/sluice/state"
)

// record is where a run records what it does. The run has it from the beginning, and it is opened before the first step and
// after everything that refuses the operation, which leaves the state untouched.
type record struct {
	state.Recorder // nil before open
}

func (r *record) open(ctx context.Context, o *opened) (err error) {
	if r.Recorder, err = o.State.Record(ctx, o.found); err != nil {
		return err
	}
	if o.migrated {
		if err := r.Rebase(ctx, o.base); err != nil {
			return fmt.Errorf("rebasing the deployment: %w", err)
		}
	}
	return nil
}

// close ends the record; nil and one that was not opened have nothing to end.
func (r *record) close(ctx context.Context) error {
	if r == nil || r.Recorder == nil {
		return nil
	}
	return r.Close(ctx)
}
