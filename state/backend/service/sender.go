package service

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/sluice-iac/sluice/state/backend"
	"github.com/sluice-iac/sluice/state/backend/service/internal/api"
)

// sender keeps the working copy of a stack and the state at the service equal. All methods but take need the lock of the working copy.
type sender struct{ subject subject }

// take locks the working copy. fresh is the state of the service, if it was read for that.
func (s sender) take(ctx context.Context, o backend.LockOptions) (h *held, fresh []byte, err error) {
	c, err := s.subject.backend.copyOf(ctx, s.subject.ref)
	if err != nil {
		return nil, nil, err
	}
	w, err := c.open(ctx, func() ([]byte, error) {
		fresh, err = s.subject.download(ctx)
		return fresh, err
	})
	if err != nil {
		return nil, nil, err
	}
	l, err := w.Lock(ctx, o)
	if err != nil {
		return nil, nil, err
	}
	return &held{c, w, l}, fresh, nil
}

// announce marks a working copy as one with unsent changes, unless another update of the stack runs, and returns its content. The working copy of
// the stack after is sent first; after may be "".
func (s sender) announce(ctx context.Context, h *held, after string) (before []byte, err error) {
	if before, err = h.workingCopy.content(ctx); err != nil {
		return nil, err
	}
	now, err := s.subject.describe(ctx)
	if err != nil {
		return nil, err
	}
	if now.Current != nil {
		return nil, &BusyError{s.subject.ref, now.Current.Kind, now.Current.Author}
	}
	return before, h.workingCopy.mark(ctx, unsent{Version: now.Version, After: after})
}

// send makes the working copy the state at the service.
func (s sender) send(ctx context.Context, h *held) error {
	content, err := h.workingCopy.content(ctx)
	if err != nil {
		return err
	}
	d, err := s.subject.outgoing(ctx, content)
	if err != nil {
		return err
	}
	return s.subject.upload(ctx, d)
}

// deliver sends an edited working copy. If the service refuses it, the edit is reverted.
func (s sender) deliver(ctx context.Context, h *held, before []byte) error {
	err := s.send(ctx, h)
	switch {
	case err == nil:
		return h.workingCopy.settled(ctx)
	case api.IsAway(err), isDoubtful(err):
		return &UnsentError{s.subject.ref, h.workingCopy.name(), err}
	}
	return errors.Join(err, s.revert(ctx, h, before))
}

// revert restores the content of a working copy before an edit.
func (s sender) revert(ctx context.Context, h *held, before []byte) error {
	return errors.Join(h.workingCopy.replace(ctx, before), h.workingCopy.settled(ctx))
}

// bringUp sends the unsent changes of an earlier operation, and then makes the working copy equal to the state of the service. If the working copy
// was just made from that state, fresh, no other process has changed it.
func (s sender) bringUp(ctx context.Context, h *held, fresh []byte) error {
	left, err := h.workingCopy.unsent(ctx)
	if err != nil {
		return err
	}
	if present, err := h.workingCopy.content(ctx); err == nil && left == nil && fresh != nil && bytes.Equal(present, fresh) {
		return nil
	}
	if err := s.sendLeft(ctx, h); err != nil {
		return err
	}
	content, err := s.subject.download(ctx)
	if err != nil {
		return err
	}
	return h.workingCopy.replace(ctx, content)
}

// sendLeft sends the unsent changes of an operation that has ended. If the operation was cut off, its update at the service is ended.
func (s sender) sendLeft(ctx context.Context, h *held) error {
	left, err := h.workingCopy.unsent(ctx)
	if err != nil || left == nil {
		return err
	}
	now, err := s.subject.describe(ctx)
	if err != nil {
		return &UnsentError{s.subject.ref, h.workingCopy.name(), err}
	}
	ours := left.Update != "" && now.ActiveUpdate == left.Update
	switch {
	case ours && now.Current != nil:
		// The process of the update has ended: this process has the lock of its working copy.
		if err := s.subject.backend.client.Cancel(ctx, api.UpdateID{Stack: s.subject.id(), ID: left.Update}); err != nil {
			return &UnsentError{s.subject.ref, h.workingCopy.name(), err}
		}
	case now.Current != nil:
		return &BusyError{s.subject.ref, now.Current.Kind, now.Current.Author}
	case !ours && now.Version != left.Version && !left.Sent:
		content, err := h.workingCopy.content(ctx)
		if err != nil {
			return err
		}
		if left.Sent, err = s.subject.has(ctx, content); err != nil {
			return &UnsentError{s.subject.ref, h.workingCopy.name(), err}
		}
		if !left.Sent {
			return &OvertakenError{s.subject.ref, h.workingCopy.name()}
		}
	}
	if err := s.precede(ctx, left.After); err != nil {
		return &UnsentError{s.subject.ref, h.workingCopy.name(), err}
	}
	if !left.Sent {
		if err := s.send(ctx, h); err != nil {
			return &UnsentError{s.subject.ref, h.workingCopy.name(), err}
		}
		s.subject.backend.note("what the last operation on stack %s recorded on this machine has been sent to the service", s.subject.ref.Name)
	}
	return h.workingCopy.settled(ctx)
}

// precede sends the working copy of a stack that has received resources of this one. Its name may be "".
func (s sender) precede(ctx context.Context, name string) error {
	parts := strings.Split(name, "/")
	if len(parts) != 3 {
		return nil
	}
	other := &stack{subject: subject{s.subject.backend, backend.Ref{Owner: parts[0], Project: parts[1], Name: parts[2]}}, shared: &shared{}}
	if err := other.settle(ctx); err != nil {
		return err
	}
	c, err := s.subject.backend.copyOf(ctx, other.subject.ref)
	if err != nil {
		return err
	}
	if left, err := c.unsent(ctx); err != nil || left != nil {
		return errors.Join(err, fmt.Errorf("the resources that were moved to stack %s have not been sent yet", other.subject.ref))
	}
	return nil
}
