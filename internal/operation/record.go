package operation

import (
	"context"
	"errors"
	"fmt"

	"github.com/sluice-iac/sluice/state"
)

// record is the record of a run's steps. The run has it from the beginning. It is opened before the first step and
// after all possible refusals of the operation, so that a refusal leaves the state unchanged.
type record struct {
	state.Recorder           // nil before open
	snippets       *snippets // nil if the state has none
}

// open begins to record. It does nothing if an earlier attempt of the operation has begun.
func (r *record) open(ctx context.Context, o *opened) error {
	if r.Recorder != nil {
		return nil
	}
	inner, err := o.settings.State.Record(ctx, o.found)
	if err != nil {
		return err
	}
	r.Recorder = state.NewKnownRecorder(inner, o.settings.Ephemeral.omit)
	if len(o.base.Snippets) > 0 {
		r.snippets = newSnippets(r.Recorder, o)
		r.Recorder = r.snippets
	}
	if o.migrated {
		if err := r.Rebase(ctx, o.base); err != nil {
			return fmt.Errorf("rebasing the deployment: %w", err)
		}
	}
	return nil
}

// close closes the record. It does nothing for nil and for a record that was not opened.
func (r *record) close(ctx context.Context) error {
	if r == nil || r.Recorder == nil {
		return nil
	}
	return errors.Join(r.snippets.drop(ctx), r.Close(ctx))
}
