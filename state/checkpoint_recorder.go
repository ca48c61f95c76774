package state

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/sluice-iac/sluice/state/internal/commit"
)

// CheckpointOptions define the content and the destination of checkpoints.
type CheckpointOptions struct {
	Stack   string // fully qualified name, written into the checkpoint
	Encoder *Encoder
	// Save replaces the stack file, durably or not at all. It is called by one goroutine at a time.
	Save func(ctx context.Context, checkpoint []byte) error
	// SetAside keeps a checkpoint that failed the integrity check, and returns where. nil discards it.
	SetAside func(ctx context.Context, checkpoint []byte) (where string, err error)
	// Deferred makes every write of a [CheckpointRecorder] wait for Close (state.md 3.3).
	Deferred bool
	// SkipIntegrity also writes snapshots that fail the integrity check (--disable-integrity-checking).
	SkipIntegrity bool
}

// CheckpointRecorder is a [Recorder] that rewrites the whole checkpoint ([state.md 3]). Changes recorded during a write go
// into the next one: each caller returns when a write that contains its record is done. A write that fails ends the
// recording: every waiting and every later caller gets the error. Close tries once more to write the changes that have happened.
//
// A record is written even if the context of the call is cancelled meanwhile; only the values of contexts are used.
//
// A snapshot that fails [Verify] never replaces the checkpoint. It is set aside, its repaired form is written if there
// is one, and the recording ends with the [*IntegrityError] ([state.md 1.9]).
//
// [state.md 1.9]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/state.md#19-metadata
// [state.md 3]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/state.md#3-from-steps-to-the-snapshot
type CheckpointRecorder struct {
	ledger  *Ledger
	options CheckpointOptions

	mu     sync.Mutex    // guards the fields below
	group  *commit.Group // of the records in the ledger, and those of them in the checkpoint
	elided bool          // the checkpoint has to be written at Close
	closed bool
	ended  error // of Close
}

var _ Recorder = (*CheckpointRecorder)(nil)

// ErrClosed is returned by a recorder that has been closed.
var ErrClosed = errors.New("the recording of this run has ended")

// NewCheckpointRecorder records into ledger. Even a run that changes nothing writes once, at Close ([state.md 3.3]).
//
// [state.md 3.3]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/state.md#33-what-may-be-written-later
func NewCheckpointRecorder(ledger *Ledger, o CheckpointOptions) *CheckpointRecorder {
	r := &CheckpointRecorder{ledger: ledger, options: o, elided: true}
	r.group = commit.New(&r.mu)
	return r
}

// Begin makes the operation durable as a pending one. If that fails, the operation has not begun.
func (cr *CheckpointRecorder) Begin(ctx context.Context, op Pending) error {
	cr.mu.Lock()
	defer cr.mu.Unlock()
	if err := cr.group.Err(); err != nil {
		return err
	}
	applied := false
	err := cr.record(ctx, true, func() error {
		err := cr.ledger.Begin(op)
		applied = err == nil
		return err
	})
	if err != nil && applied {
		err = errors.Join(err, cr.ledger.End(Change{Begun: op.Resource})) // it does not start, so Close need not record it
	}
	return err
}

// End makes the change durable, unless it may be elided.
func (cr *CheckpointRecorder) End(ctx context.Context, c Change) error {
	cr.mu.Lock()
	defer cr.mu.Unlock()
	return cr.record(ctx, !c.Elide, func() error { return cr.ledger.End(c) })
}

// Rebase writes the rebuilt base.
func (cr *CheckpointRecorder) Rebase(ctx context.Context, base *Snapshot) error {
	cr.mu.Lock()
	defer cr.mu.Unlock()
	return cr.record(ctx, true, func() error { cr.ledger.Rebase(base); return nil })
}

// Close writes what is not in the checkpoint yet, and waits for a write that is under way. If everything that has happened is in the
// checkpoint then, there is no error. A second Close does nothing and returns the error of the first.
func (cr *CheckpointRecorder) Close(ctx context.Context) error {
	cr.mu.Lock()
	defer cr.mu.Unlock()
	if cr.closed {
		return cr.ended
	}
	cr.closed = true
	if cr.elided {
		cr.group.Add()
	}
	if cr.ended = cr.flush(ctx, cr.group.Added()); cr.ended == nil || errors.As(cr.ended, new(*IntegrityError)) {
		return cr.ended
	}
	cr.group = commit.New(&cr.mu)
	cr.ended = cr.flush(ctx, cr.group.Add())
	return cr.ended
}

// Snapshot returns the recorded snapshot, written or not.
func (cr *CheckpointRecorder) Snapshot() (*Snapshot, error) { return cr.ledger.Snapshot() }

// record applies a change, also after a failed write, because it has happened. must is false if the checkpoint may be written later. cr.mu is held.
func (cr *CheckpointRecorder) record(ctx context.Context, must bool, apply func() error) error {
	if cr.closed {
		return ErrClosed
	}
	if err := errors.Join(cr.group.Err(), apply()); err != nil {
		return err
	}
	n := cr.group.Add()
	if !must || cr.options.Deferred {
		cr.elided = true
		return nil
	}
	return cr.flush(ctx, n)
}

// flush returns when the first n records are in the checkpoint. cr.mu is held.
func (cr *CheckpointRecorder) flush(ctx context.Context, n int) error {
	ctx = context.WithoutCancel(ctx)
	return cr.group.Flush(n, func() commit.Batch {
		elided := cr.elided
		cr.elided = false
		snapshot, err := cr.ledger.Snapshot() // under cr.mu: it holds exactly the records up to now
		return commit.Batch{
			Write: func() error {
				if err != nil {
					return err
				}
				return cr.write(ctx, snapshot)
			},
			End: func(err error) error {
				if errors.Is(err, commit.ErrPanicked) {
					err = fmt.Errorf("write the checkpoint of stack %s: %w", cr.options.Stack, err)
				}
				cr.elided = cr.elided || err != nil && elided
				return err
			},
		}
	})
}

func (cr *CheckpointRecorder) write(ctx context.Context, s *Snapshot) error {
	_, err := cr.options.Write(ctx, s)
	return err
}

// Write makes s the checkpoint. A snapshot that fails [Verify] is set aside, and its repaired form is written if there is
// one. In that case written is true although there is an error, which wraps an [*IntegrityError].
func (o CheckpointOptions) Write(ctx context.Context, s *Snapshot) (written bool, err error) {
	broken := Verify(s)
	if o.SkipIntegrity {
		broken = nil
	}
	if broken != nil {
		where, err := o.setAside(ctx, s)
		broken = errors.Join(fmt.Errorf("the new state of stack %s was not written: %w%s", o.Stack, broken, where), err)
		if s, err = Repair(s); err != nil {
			return false, broken
		}
	}
	b, err := o.Encoder.Checkpoint(ctx, o.Stack, s)
	if err != nil {
		return false, errors.Join(broken, err)
	}
	if err := o.Save(ctx, b); err != nil {
		return false, errors.Join(broken, fmt.Errorf("write the checkpoint of stack %s: %w", o.Stack, err))
	}
	return true, broken
}

// setAside returns a clause for the error message with the location of the bad document.
func (o CheckpointOptions) setAside(ctx context.Context, s *Snapshot) (clause string, err error) {
	if o.SetAside == nil {
		return "", nil
	}
	b, err := o.Encoder.Checkpoint(ctx, o.Stack, s)
	if err != nil {
		return "", err
	}
	where, err := o.SetAside(ctx, b)
	if err != nil {
		return "", fmt.Errorf("set the bad state aside: %w", err)
	}
	return fmt.Sprintf("; it was set aside in %s", where), nil
}
