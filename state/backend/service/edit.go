package service

import (
	"context"
	"errors"
	"fmt"

	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/state/backend"
	"github.com/sluice-iac/sluice/state/backend/service/internal/api"
)

// Save implements [backend.Stack].
func (s *stack) Save(ctx context.Context, snapshot *state.Snapshot) error {
	h, _ := s.now()
	if h == nil {
		return &backend.NotLockedError{Ref: s.ref}
	}
	return s.edit(ctx, h, func() error { return s.locked(h).Save(ctx, snapshot) })
}

// edit changes the working copy and then the state at the service. If the service refuses, nothing has changed.
func (s *stack) edit(ctx context.Context, h *held, change func() error) error {
	before, err := s.announce(ctx, h, "")
	if err != nil {
		return err
	}
	if err := change(); err != nil {
		return errors.Join(err, s.revert(ctx, h, before))
	}
	return s.deliver(ctx, h, before)
}

// announce marks a working copy as one with unsent changes, unless another update of the stack runs, and returns its content. The working copy of
// the stack after is sent first; after may be "".
func (s *stack) announce(ctx context.Context, h *held, after string) (before []byte, err error) {
	if before, err = h.content(ctx); err != nil {
		return nil, err
	}
	now, err := s.describe(ctx)
	if err != nil {
		return nil, err
	}
	if now.Current != nil {
		return nil, &BusyError{s.ref, now.Current.Kind, now.Current.Author}
	}
	return before, h.mark(ctx, unsent{Version: now.Version, After: after})
}

// deliver sends an edited working copy. If the service refuses it, the edit is reverted.
func (s *stack) deliver(ctx context.Context, h *held, before []byte) error {
	err := s.send(ctx, h)
	switch {
	case err == nil:
		return h.settled(ctx)
	case api.IsAway(err), isDoubtful(err):
		return &UnsentError{s.ref, h.name(), err}
	}
	return errors.Join(err, s.revert(ctx, h, before))
}

// revert restores the content of a working copy before an edit.
func (s *stack) revert(ctx context.Context, h *held, before []byte) error {
	return errors.Join(h.replace(ctx, before), h.settled(ctx))
}

// send makes the working copy the state at the service.
func (s *stack) send(ctx context.Context, h *held) error {
	content, err := h.content(ctx)
	if err != nil {
		return err
	}
	d, err := s.outgoing(ctx, content)
	if err != nil {
		return err
	}
	return s.upload(ctx, d)
}

// SaveMove implements [backend.Stack]. Both working copies are changed first, and then sent, that of the destination first. If it is cut off, the
// next command on one of the stacks sends the rest.
func (s *stack) SaveMove(ctx context.Context, own *state.Snapshot, dest backend.Stack, destState *state.Snapshot) error {
	to, is := dest.(*stack)
	if !is || to.backend != s.backend {
		return fmt.Errorf("nothing was moved: the stacks %s and %s are not of the same backend", s.ref, dest.Ref())
	}
	from, _ := s.now()
	into, _ := to.now()
	if from == nil || into == nil {
		return &backend.NotLockedError{Ref: s.ref}
	}
	there, err := to.announce(ctx, into, "")
	if err != nil {
		return err
	}
	here, err := s.announce(ctx, from, to.ref.String())
	if err != nil {
		return errors.Join(err, to.revert(ctx, into, there))
	}
	undo := func(err error) error {
		return errors.Join(err, to.revert(ctx, into, there), s.revert(ctx, from, here))
	}
	if from.copies == into.copies {
		err = s.locked(from).SaveMove(ctx, own, to.locked(into), destState)
	} else if err = to.locked(into).Save(ctx, destState); err == nil {
		err = s.locked(from).Save(ctx, own)
	}
	if err != nil {
		return undo(err)
	}
	if err := to.send(ctx, into); err != nil && !api.IsAway(err) && !isDoubtful(err) {
		return undo(err)
	} else if err != nil {
		return &UnsentError{to.ref, into.name(), err} // and the other one stays with it
	}
	if err := into.settled(ctx); err != nil {
		return err
	}
	if err := s.deliver(ctx, from, here); err != nil {
		return fmt.Errorf("the resources are in stack %s, and still in stack %s: %w", to.ref, s.ref, err)
	}
	return nil
}

// Import implements [backend.Stack].
func (s *stack) Import(ctx context.Context, export []byte, force bool) (warnings []string, err error) {
	l, err := s.Lock(ctx, backend.LockOptions{Operation: "stack import"})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	h, _ := s.now()
	before, err := h.content(ctx)
	if err != nil {
		return nil, err
	}
	v, m, err := s.view(ctx, before)
	if err != nil {
		return nil, err
	}
	if warnings, err = v.Import(ctx, export, force); err != nil {
		return warnings, err
	}
	content, _, err := m.Read(ctx, h.keys.File())
	if err != nil {
		return warnings, err
	}
	return warnings, s.edit(ctx, h, func() error { return h.replace(ctx, content) })
}
