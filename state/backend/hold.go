package backend

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/sluice-iac/sluice/state"
)

// NotLockedError reports that the state of a stack was not written, or is not recorded any more, because its lock is not held.
type NotLockedError struct {
	Ref Ref
	// Released is true if the lock was held when the recording began.
	Released bool
}

func (e *NotLockedError) Error() string {
	if e.Released {
		return fmt.Sprintf("the lock of stack %s was released in the middle of an operation; no further step is started", e.Ref)
	}
	return fmt.Sprintf("stack %s is not locked, so nothing can be recorded in its state: do this within host.Locked, or call Lock of this "+
		"stack value first", e.Ref)
}

// RecordingError reports that a stack is already being recorded, or its state already being written.
type RecordingError struct{ Ref Ref }

func (e *RecordingError) Error() string {
	return fmt.Sprintf("stack %s is being recorded by another operation of this process; nothing was done, wait until that one has ended", e.Ref)
}

// hold is the state of the lock that a handle of a stack shares with the handles that differ from it only in their
// secrets.
//
// Invariant: at most one recording or edit writes the state, and it began while the lock was held.
type hold struct {
	mu      sync.Mutex // guards the fields below
	lock    *ownLock   // nil while the handle does not hold the lock
	claimed bool       // whether a recording or an edit has claimed the writing
	closed  *ownLock   // closed while the writing was claimed: it is released at the end of that
	loaded  loaded     // under the lock, for the next one that loads it; nothing once the writing was claimed
}

// loaded is a state as a handle has loaded it.
type loaded struct {
	by       *fileStack
	revision string // of the stack file
	snapshot *state.Snapshot
}

// ownLock is a lock that a handle has taken.
type ownLock struct {
	heldLock
	hold      *hold
	operation string // what it is for, "" if that was not said
}

// own makes l the lock of the handle until it is closed.
func (h *hold) own(l heldLock, operation string) Lock {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lock = &ownLock{l, h, operation}
	return h.lock
}

// Close releases the lock. Even if that fails, the handle no longer records under it. While a recording or an edit has claimed the
// writing, it is an error, and the lock is released at the end of that.
func (l *ownLock) Close() error {
	l.hold.mu.Lock()
	if l.hold.lock == l {
		l.hold.lock, l.hold.loaded = nil, loaded{}
		if l.hold.claimed {
			l.hold.closed = l
		}
	}
	writing := l.hold.closed == l
	l.hold.mu.Unlock()
	if writing {
		return l.keep()
	}
	return l.heldLock.Close()
}

// isHeld reports whether the handle has the lock.
func (h *hold) isHeld() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.lock != nil
}

// claim claims the writing of the state until end is called.
func (h *hold) claim(ref Ref) (*ownLock, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.lock == nil:
		return nil, &NotLockedError{Ref: ref}
	case h.claimed:
		return nil, &RecordingError{Ref: ref}
	}
	h.claimed, h.loaded = true, loaded{}
	return h.lock, nil
}

// keep keeps what was loaded while the handle has the lock and nobody writes.
func (h *hold) keep(l loaded) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.lock != nil && !h.claimed {
		h.loaded = l
	}
}

// find returns what the same handle has loaded from the same revision; nil if there is nothing.
func (h *hold) find(by *fileStack, revision string) *state.Snapshot {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.lock == nil || revision == "" || h.loaded.by != by || h.loaded.revision != revision {
		return nil
	}
	return h.loaded.snapshot
}

// end ends the claim, and releases the lock if it was closed meanwhile. It adds the error of that to err.
func (h *hold) end(err *error) {
	h.mu.Lock()
	closed := h.closed
	h.claimed, h.closed = false, nil
	h.mu.Unlock()
	if closed == nil {
		return
	}
	if failed := closed.heldLock.Close(); failed != nil {
		*err = errors.Join(*err, failed)
	}
}

// check returns an error if l has been released or lost.
func (h *hold) check(ctx context.Context, ref Ref, l *ownLock) error {
	h.mu.Lock()
	now := h.lock
	h.mu.Unlock()
	if now != l {
		return &NotLockedError{Ref: ref, Released: true}
	}
	return l.Check(ctx)
}

// lockedRecorder begins operations only while the lock is held. It still records the end of an operation that has
// begun.
type lockedRecorder struct {
	state.Recorder
	ref   Ref
	hold  *hold
	lock  *ownLock
	ended sync.Once
}

// Begin implements [state.Recorder].
func (l *lockedRecorder) Begin(ctx context.Context, op state.Pending) error {
	if err := l.hold.check(ctx, l.ref, l.lock); err != nil {
		return err
	}
	return l.Recorder.Begin(ctx, op)
}

// Rebase implements [state.Recorder].
func (l *lockedRecorder) Rebase(ctx context.Context, base *state.Snapshot) error {
	if err := l.hold.check(ctx, l.ref, l.lock); err != nil {
		return err
	}
	return l.Recorder.Rebase(ctx, base)
}

// Close implements [state.Recorder].
func (l *lockedRecorder) Close(ctx context.Context) (err error) {
	defer l.ended.Do(func() { l.hold.end(&err) })
	return l.Recorder.Close(ctx)
}
