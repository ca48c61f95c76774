package simulate

import (
	"context"

	"github.com/sluice-iac/sluice/state"
)

// guardedStore begins no operation that check refuses, like a stack that has lost its lock.
type guardedStore struct {
	state.Store
	check func(context.Context) error
}

// Record implements [state.Store].
func (s guardedStore) Record(ctx context.Context, base *state.Snapshot) (state.Recorder, error) {
	if err := s.check(ctx); err != nil {
		return nil, err
	}
	r, err := s.Store.Record(ctx, base)
	return guardedRecorder{r, s.check}, err
}

type guardedRecorder struct {
	state.Recorder
	check func(context.Context) error
}

// Begin implements [state.Recorder].
func (g guardedRecorder) Begin(ctx context.Context, op state.Pending) error {
	if err := g.check(ctx); err != nil {
		return err
	}
	return g.Recorder.Begin(ctx, op)
}
