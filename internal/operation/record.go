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
	recorder state.Recorder // nil before open
	snippets *snippets      // nil if the state has none
}

// open begins to record. It does nothing if an earlier attempt of the operation has begun.
func (r *record) open(ctx context.Context, o *opened) error {
	if r.recorder != nil {
		return nil
	}
	inner, err := o.settings.State.Record(ctx, o.found)
	if err != nil {
		return err
	}
	r.recorder = state.NewKnownRecorder(inner, o.settings.Ephemeral.omit)
	if len(o.base.Snippets) > 0 {
		r.snippets = newSnippets(r.recorder, o)
		r.recorder = r.snippets
	}
	if o.migrated {
		if err := r.recorder.Rebase(ctx, o.base); err != nil {
			return fmt.Errorf("rebasing the deployment: %w", err)
		}
	}
	return nil
}

var _ state.Recorder = (*record)(nil)

// Begin implements [state.Recorder].
func (r *record) Begin(ctx context.Context, op state.Pending) error { return r.recorder.Begin(ctx, op) }

// End implements [state.Recorder].
func (r *record) End(ctx context.Context, c state.Change) error { return r.recorder.End(ctx, c) }

// Rebase implements [state.Recorder].
func (r *record) Rebase(ctx context.Context, base *state.Snapshot) error {
	return r.recorder.Rebase(ctx, base)
}

// Snapshot implements [state.Recorder].
func (r *record) Snapshot() (*state.Snapshot, error) { return r.recorder.Snapshot() }

// Close implements [state.Recorder].
func (r *record) Close(ctx context.Context) error { return r.recorder.Close(ctx) }

// close closes the record. It does nothing for nil and for a record that was not opened.
func (r *record) close(ctx context.Context) error {
	if r == nil || r.recorder == nil {
		return nil
	}
	return errors.Join(r.snippets.drop(ctx), r.recorder.Close(ctx))
}
