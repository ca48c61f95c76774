package sluice

import (
	"context"
	"errors"
	"sync"

	"github.com/sluice-iac/sluice/state"
)

// ErrFenced is returned by the recorders of a [Fence] that has been cut.
var ErrFenced = errors.New("the recording of this run has been ended")

// Fence is a [state.Store] that can be closed in the middle of an operation, for a process that releases the lock of a stack
// without waiting for running steps: their operations stay pending in the state. Its methods may be called from any goroutine.
type Fence struct {
	store state.Store

	mu        sync.RWMutex // held for reading while something is recorded; guards what follows
	cut       bool
	recorders []state.Recorder // that have been begun
}

// NewFence returns a fence around a store.
func NewFence(store state.Store) *Fence { return &Fence{store: store} }

// Cut waits for running writes and closes the recorders. Nothing is written after it has returned.
func (f *Fence) Cut(ctx context.Context) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.cut {
		return nil
	}
	f.cut = true
	var err error
	for _, r := range f.recorders {
		err = errors.Join(err, r.Close(ctx))
	}
	return err
}

// Load returns the recorded state.
func (f *Fence) Load(ctx context.Context) (*state.Snapshot, error) { return f.store.Load(ctx) }

// Record begins a recording.
func (f *Fence) Record(ctx context.Context, base *state.Snapshot) (state.Recorder, error) {
	var inner state.Recorder
	err := f.pass(func() (err error) {
		inner, err = f.store.Record(ctx, base)
		return err
	})
	if err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.cut {
		return nil, errors.Join(ErrFenced, inner.Close(ctx))
	}
	f.recorders = append(f.recorders, inner)
	return &fencedRecorder{f, inner}, nil
}

func (f *Fence) pass(write func() error) error {
	f.mu.RLock()
	defer f.mu.RUnlock()
	if f.cut {
		return ErrFenced
	}
	return write()
}

type fencedRecorder struct {
	fence *Fence
	inner state.Recorder
}

func (f *fencedRecorder) Begin(ctx context.Context, op state.Pending) error {
	return f.fence.pass(func() error { return f.inner.Begin(ctx, op) })
}

func (f *fencedRecorder) End(ctx context.Context, c state.Change) error {
	return f.fence.pass(func() error { return f.inner.End(ctx, c) })
}

func (f *fencedRecorder) Rebase(ctx context.Context, base *state.Snapshot) error {
	return f.fence.pass(func() error { return f.inner.Rebase(ctx, base) })
}

func (f *fencedRecorder) Snapshot() (*state.Snapshot, error) { return f.inner.Snapshot() }

func (f *fencedRecorder) Close(ctx context.Context) error {
	return f.fence.pass(func() error { return f.inner.Close(ctx) })
}
