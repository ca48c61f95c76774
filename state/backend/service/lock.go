package service

import (
	"context"
	"errors"

	"github.com/sluice-iac/sluice/state/backend"
	"github.com/sluice-iac/sluice/state/backend/internal/layout"
)

func keysOf(ref backend.Ref) layout.Stack { return layout.Stack{Project: ref.Project, Name: ref.Name} }

// ownLock is the lock of a stack that this process holds.
type ownLock struct {
	backend.Lock
	stack *stack
	held  *held
}

// Check implements [backend.Lock].
func (l *ownLock) Check(ctx context.Context) error {
	if _, r := l.stack.now(); r != nil {
		if err := r.lostBecause(); err != nil {
			return err
		}
	}
	return l.Lock.Check(ctx)
}

// Close implements [backend.Lock]. It removes the working copy, unless that has unsent changes. An operation that has begun and not ended
// has failed.
func (l *ownLock) Close() error {
	ctx := context.Background()
	s := l.stack
	var errs []error
	if _, r := s.now(); r != nil {
		errs = append(errs, r.End(ctx, backend.Update{Result: backend.ResultFailed}))
	}
	s.shared.mu.Lock()
	if s.shared.held != l.held {
		s.shared.mu.Unlock()
		return l.Lock.Close()
	}
	s.shared.held = nil
	s.shared.mu.Unlock()
	left, err := l.held.workingCopy.unsent(ctx)
	if err == nil && left == nil && l.Lock.Check(ctx) == nil {
		err = l.held.workingCopy.remove(ctx)
	}
	return errors.Join(append(errs, err, l.Lock.Close())...)
}
