package backend

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/sluice-iac/sluice/state/lock"
)

// remains are the remains of interrupted operations on a stack: operations on two stacks, and a journal.
//
// Invariant: only the holder of the stack's lock changes them, and the lock stays as long as they do.
type remains struct{ files stackFiles }

func (r remains) intents() stackIntents { return stackIntents(r) }

// recover completes interrupted operations on two stacks, and brings the stack file up to date. The lock is held. It returns
// a [*JournalError] if that needs a decision.
func (r remains) recover(ctx context.Context) error {
	if err := r.intents().recover(ctx); err != nil {
		return err
	}
	return r.files.journal().recoverAll(ctx)
}

// setAside moves the remains of interrupted operations to a place that no command uses, without applying them. The lock is
// held. It returns the place, "" if there are none.
func (r remains) setAside(ctx context.Context) (where string, err error) {
	aside, err := r.intents().setAside(ctx)
	if err == nil {
		where, err = r.files.journal().setAllAside(ctx)
	}
	if where != "" {
		aside = append(aside, where)
	}
	return strings.Join(aside, " and "), err
}

// exist reports whether an operation has left something to recover, or has not ended.
func (r remains) exist(ctx context.Context) (bool, error) {
	pending, err := r.intents().exist(ctx)
	if err != nil || pending {
		return pending, err
	}
	return r.files.journal().Exists(ctx)
}

// acquire takes the lock and recovers.
func (r remains) acquire(ctx context.Context, o LockOptions) (heldLock, error) {
	l, err := r.files.lock(ctx, o)
	if err != nil {
		return heldLock{}, err
	}
	r.files.journal().noteMissing(ctx, l.Ended())
	if err := r.recover(ctx); err != nil {
		return heldLock{}, errors.Join(err, l.GiveBack())
	}
	return heldLock{l, r}, nil
}

// heldLock is a lock of a stack until it is closed.
type heldLock struct {
	*lock.Lock
	stack remains
}

// Close releases the lock, or gives it up if an operation could not write its state: until that has been recovered nothing may start
// from the stack file, and Pulumi does not read journals (state.md 9.4 R-4). If somebody has removed the lock, what is there belongs to whoever has it now.
func (l heldLock) Close() error {
	left, err := l.stack.exist(context.Background())
	if err == nil && !left || l.IsGone(context.Background()) {
		return l.Release()
	}
	return errors.Join(err, fmt.Errorf("the lock of stack %s is kept, as what has been done is only in its journal, which the next operation on the "+
		"stack recovers; do not remove the lock before that", l.stack.files.ref.Name), l.stack.files.giveUp(l.Lock))
}

// keep keeps the lock for a recording that has not ended.
func (l heldLock) keep() error {
	l.Abandon()
	return fmt.Errorf("the lock of stack %s is kept, as an operation still records on it; it is released when that operation ends",
		l.stack.files.ref.Name)
}
