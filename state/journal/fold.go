package journal

import (
	"context"
	"errors"
	"time"

	"github.com/sourcegraph/conc"

	"github.com/sluice-iac/sluice/state"
)

// How often the checkpoint is written during a run while there is something to write (state.md 9.5): after this long at the
// earliest, and so seldom that it takes a twentieth of the time, but not more seldom than the last of these. Before that, a
// checkpoint also waits until the journal has grown by as much as it is long itself, so that all checkpoints together are not
// longer than the journal: what a run writes is linear in what it does.
const (
	foldEarliest = 2 * time.Second
	foldShare    = 20
	foldLatest   = 30 * time.Second
)

// folds is the part of a [Recorder] that writes checkpoints. The recorder's mutex guards it.
type folds struct {
	through int // the last record in the checkpoint; -1 if none was written
	size    int // of the checkpoint, in bytes
	took    time.Duration
	grown   int // bytes of the journal since the latest checkpoint began
	// waiting is since when there is something to write; zero if there is nothing. timer is that of the next attempt.
	waiting  time.Time
	timer    *time.Timer
	flusher  *time.Timer // writes what nobody waits for; flushing while it is set
	flushing bool
	running  conc.WaitGroup
	repaired bool // an invalid snapshot has been written in a repaired form
}

// schedule sees to it that what has been written to the journal gets into the checkpoint. r.mu is held.
func (f *folds) schedule(ctx context.Context, r *Recorder) {
	if r.options.OnlyAtEnd || r.closed || !f.waiting.IsZero() {
		return
	}
	f.waiting = time.Now()
	f.arm(ctx, r)
}

func (f *folds) arm(ctx context.Context, r *Recorder) {
	f.timer = time.AfterFunc(min(max(foldEarliest, foldShare*f.took), foldLatest), func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		switch {
		case r.closed || r.commits.Err() != nil:
		case f.grown < f.size && time.Since(f.waiting) < foldLatest:
			f.arm(ctx, r)
		default:
			f.running.Go(func() { r.foldNow(ctx) })
		}
	})
}

// soon is how long what nobody waits for but nobody wants to lose may stay in memory.
const soon = time.Second

// flushSoon sees to it that what is in the queue gets into the journal. r.mu is held.
func (f *folds) flushSoon(ctx context.Context, r *Recorder) {
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
				_ = r.flush(ctx, r.commits.Added()) // whoever records next gets the error
			})
		}
	})
}

func (f *folds) stop() {
	for _, t := range []*time.Timer{f.timer, f.flusher} {
		if t != nil {
			t.Stop()
		}
	}
}

// wait waits for the checkpoint that is being written. No other one begins: the recorder is closed.
func (f *folds) wait() { f.running.Wait() }

// foldNow writes a checkpoint during the run. A disk that cannot be written to is no reason to end the run: the journal
// holds everything, and the next time it is tried again.
func (r *Recorder) foldNow(ctx context.Context) {
	began := time.Now()
	_, err := r.fold(ctx)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.folds.took, r.folds.waiting = time.Since(began), time.Time{}
	switch {
	case err != nil && !isUnsaved(err):
		r.commits.Fail(err)
	case r.folds.through < r.changed:
		r.folds.schedule(ctx, r)
	}
}

// foldLast writes the checkpoint at the end, unless the latest one holds everything. written reports whether the journal has
// nothing more to tell.
func (r *Recorder) foldLast(ctx context.Context) (written bool, err error) {
	r.mu.Lock()
	fault, complete, repaired := r.commits.Err(), r.folds.through >= r.changed, r.folds.repaired
	r.mu.Unlock()
	switch {
	case repaired:
		return true, fault // what the journal holds leads to the invalid snapshot
	case isInvalid(fault):
		return false, fault
	case complete && fault == nil:
		return true, nil
	}
	return r.fold(ctx)
}

// isUnsaved reports whether a good checkpoint could not be written.
func isUnsaved(err error) bool { return errors.As(err, new(*saveError)) && !isInvalid(err) }

func isInvalid(err error) bool { return errors.As(err, new(*state.IntegrityError)) }

// saveError says that a checkpoint was good but could not be written.
type saveError struct{ err error }

func (e *saveError) Error() string { return e.err.Error() }
func (e *saveError) Unwrap() error { return e.err }

// fold writes what the ledger holds as the checkpoint. Before that the journal says which checkpoint is ours: whoever finds
// another one in its place knows that somebody else wrote it.
func (r *Recorder) fold(ctx context.Context) (written bool, err error) {
	r.mu.Lock()
	through, size := r.commits.Added(), 0
	r.folds.grown = 0
	snapshot, err := r.options.Ledger.Snapshot() // under the lock: it holds exactly the records up to through
	r.mu.Unlock()
	if err != nil {
		return false, err
	}
	o := r.options.Checkpoint
	o.Save = func(ctx context.Context, b []byte) error {
		size = len(b)
		if err := r.announce(ctx, state.Digest(b), through); err != nil {
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
		r.folds.through, r.folds.size, r.folds.repaired = through, size, err != nil
	}
	return written, err
}

// announce appends the record of a checkpoint that is about to be written. Without a journal, or with one that cannot be
// written any more, there is nobody to tell.
func (r *Recorder) announce(ctx context.Context, digest string, through int) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.created || r.commits.Err() != nil {
		return nil
	}
	e := &entry{Number: r.commits.Add(), Kind: kindFold, Digest: digest, Through: through}
	r.queue = append(r.queue, e)
	err := r.flush(ctx, e.Number)
	if err != nil && r.closed {
		return nil // the checkpoint can still be saved
	}
	return err
}
