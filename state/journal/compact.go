package journal

import (
	"context"
	"errors"
	"time"

	"github.com/sourcegraph/conc"

	"github.com/sluice-iac/sluice/state"
)

// How often the checkpoint is written during a run while there are changes (state.md 9.5). A write waits at least
// compactEarliest, and so long that writing takes a twentieth of the time, but at most compactLatest. Until then, it also
// waits until the journal has grown by the size of the checkpoint, so that all checkpoints together are not longer than
// the journal: the bytes that a run writes are linear in its changes.
const (
	compactEarliest = 2 * time.Second
	compactShare    = 20
	compactLatest   = 30 * time.Second
)

// compactor is the part of a [Recorder] that writes checkpoints. The recorder's mutex guards it.
type compactor struct {
	through int // the last record in the checkpoint; -1 if none was written
	size    int // of the checkpoint, in bytes
	took    time.Duration
	grown   int // bytes of the journal since the latest checkpoint began
	// waiting is the time since which there is something to write; zero if there is nothing. timer is the timer of the
	// next attempt.
	waiting  time.Time
	timer    *time.Timer
	flusher  *time.Timer // writes records that no caller waits for; flushing while it is set
	flushing bool
	running  conc.WaitGroup
	repaired bool // an invalid snapshot has been written in a repaired form
}

// schedule ensures that the records in the journal get into the checkpoint. r.mu is held.
func (f *compactor) schedule(ctx context.Context, r *Recorder) {
	if r.options.OnlyAtEnd || r.closed || !f.waiting.IsZero() {
		return
	}
	f.waiting = time.Now()
	f.arm(ctx, r)
}

func (f *compactor) arm(ctx context.Context, r *Recorder) {
	f.timer = time.AfterFunc(min(max(compactEarliest, compactShare*f.took), compactLatest), func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		switch {
		case r.closed || r.commits.Err() != nil:
		case f.grown < f.size && time.Since(f.waiting) < compactLatest:
			f.arm(ctx, r)
		default:
			f.running.Go(func() { r.compactNow(ctx) })
		}
	})
}

// soon is how long a record that no caller waits for may stay in memory.
const soon = time.Second

// flushSoon ensures that the queue gets into the journal. r.mu is held.
func (f *compactor) flushSoon(ctx context.Context, r *Recorder) {
	if f.flushing {
		return
	}
	f.flushing = true
	f.flusher = time.AfterFunc(soon, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		f.flushing = false
		if !r.closed && r.commits.Err() == nil {
			f.running.Go(func() {
				r.mu.Lock()
				defer r.mu.Unlock()
				_ = r.flush(ctx, r.commits.Added()) // the next record gets the error
			})
		}
	})
}

func (f *compactor) stop() {
	for _, t := range []*time.Timer{f.timer, f.flusher} {
		if t != nil {
			t.Stop()
		}
	}
}

// wait waits for the checkpoint that is being written. No other one begins: the recorder is closed.
func (f *compactor) wait() { f.running.Wait() }

// compactNow writes a checkpoint during the run. A checkpoint that cannot be written does not end the run: the
// journal holds everything, and the next attempt follows.
func (r *Recorder) compactNow(ctx context.Context) {
	began := time.Now()
	_, err := r.compact(ctx)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.compactor.took, r.compactor.waiting = time.Since(began), time.Time{}
	switch {
	case err != nil && !isUnsaved(err):
		r.commits.Fail(err)
	case r.compactor.through < r.changed:
		r.compactor.schedule(ctx, r)
	}
}

// compactLast writes the checkpoint at the end, unless the latest one holds everything. written reports whether the journal is
// no longer needed.
func (r *Recorder) compactLast(ctx context.Context) (written bool, err error) {
	r.mu.Lock()
	fault, complete, repaired := r.commits.Err(), r.compactor.through >= r.changed, r.compactor.repaired
	r.mu.Unlock()
	switch {
	case repaired:
		return true, fault // the records of the journal lead to the invalid snapshot
	case isInvalid(fault):
		return false, fault
	case complete && fault == nil:
		return true, nil
	}
	return r.compact(ctx)
}

// isUnsaved reports whether a good checkpoint could not be written.
func isUnsaved(err error) bool { return errors.As(err, new(*saveError)) && !isInvalid(err) }

func isInvalid(err error) bool { return errors.As(err, new(*state.IntegrityError)) }

// saveError reports that a checkpoint was good but could not be written.
type saveError struct{ err error }

func (e *saveError) Error() string { return e.err.Error() }
func (e *saveError) Unwrap() error { return e.err }

// compact writes the ledger's snapshot as the checkpoint. Before that it records the digest in the journal, so that a
// checkpoint of another process is recognised.
func (r *Recorder) compact(ctx context.Context) (written bool, err error) {
	r.mu.Lock()
	through, size := r.commits.Added(), 0
	r.compactor.grown = 0
	snapshot, err := r.options.Ledger.Snapshot() // under the lock: it holds exactly the records up to through
	r.mu.Unlock()
	if err != nil {
		return false, err
	}
	o := r.options.Checkpoint
	o.Save = func(ctx context.Context, b []byte) error {
		size = len(b)
		if err := r.recordCheckpoint(ctx, state.Digest(b), through); err != nil {
			return &saveError{err}
		}
		if err := r.options.Checkpoint.Save(ctx, b); err != nil {
			return &saveError{err}
		}
		return nil
	}
	written, err = o.Write(ctx, snapshot)
	r.mu.Lock()
	defer r.mu.Unlock()
	if written {
		r.compactor.through, r.compactor.size, r.compactor.repaired = through, size, err != nil
	}
	return written, err
}

// recordCheckpoint appends the record of a checkpoint before it is written. Without a journal, or with one that can no
// longer be written, it does nothing.
func (r *Recorder) recordCheckpoint(ctx context.Context, digest string, through int) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.created || r.commits.Err() != nil {
		return nil
	}
	e := &entry{Number: r.commits.Add(), Kind: kindCheckpoint, Digest: digest, Through: through}
	r.queue = append(r.queue, e)
	err := r.flush(ctx, e.Number)
	if err != nil && r.closed {
		return nil // the checkpoint can still be saved
	}
	return err
}
