package journal

import (
	"context"
	"time"

	"github.com/sourcegraph/conc"
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

// saveError reports that a checkpoint was good but could not be written.
type saveError struct{ err error }

func (e *saveError) Error() string { return e.err.Error() }
func (e *saveError) Unwrap() error { return e.err }
