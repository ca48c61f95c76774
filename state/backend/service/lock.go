package service

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/sluice-iac/sluice/advice"
	"github.com/sluice-iac/sluice/state/backend"
	"github.com/sluice-iac/sluice/state/backend/internal/layout"
	"github.com/sluice-iac/sluice/state/backend/service/internal/api"
	"github.com/sluice-iac/sluice/state/lock"
)

func keysOf(ref backend.Ref) layout.Stack { return layout.Stack{Project: ref.Project, Name: ref.Name} }

// Lock implements [backend.Stack]. It excludes other processes of this machine; the service excludes those of other machines, from Begin
// on.
func (s *stack) Lock(ctx context.Context, o backend.LockOptions) (backend.Lock, error) {
	h, fresh, err := s.take(ctx, o)
	if err != nil {
		return nil, err
	}
	if err := s.bringUp(ctx, h, fresh); err != nil {
		return nil, errors.Join(err, h.lock.Close())
	}
	s.shared.mu.Lock()
	defer s.shared.mu.Unlock()
	s.shared.held = h
	return &ownLock{h.lock, s, h}, nil
}

// take locks the working copy. fresh is the state of the service, if it was read for that.
func (s *stack) take(ctx context.Context, o backend.LockOptions) (h *held, fresh []byte, err error) {
	c, err := s.backend.copyOf(ctx, s.ref)
	if err != nil {
		return nil, nil, err
	}
	w, err := c.open(ctx, func() ([]byte, error) {
		fresh, err = s.download(ctx)
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

// bringUp sends the unsent changes of an earlier operation, and then makes the working copy equal to the state of the service. If the working copy
// was just made from that state, fresh, no other process has changed it.
func (s *stack) bringUp(ctx context.Context, h *held, fresh []byte) error {
	left, err := h.unsent(ctx)
	if err != nil {
		return err
	}
	if present, err := h.content(ctx); err == nil && left == nil && fresh != nil && bytes.Equal(present, fresh) {
		return nil
	}
	if err := s.sendLeft(ctx, h); err != nil {
		return err
	}
	content, err := s.download(ctx)
	if err != nil {
		return err
	}
	return h.replace(ctx, content)
}

// sendLeft sends the unsent changes of an operation that has ended. If the operation was cut off, its update at the service is ended.
func (s *stack) sendLeft(ctx context.Context, h *held) error {
	left, err := h.unsent(ctx)
	if err != nil || left == nil {
		return err
	}
	now, err := s.describe(ctx)
	if err != nil {
		return &UnsentError{s.ref, h.name(), err}
	}
	ours := left.Update != "" && now.ActiveUpdate == left.Update
	switch {
	case ours && now.Current != nil:
		// The process of the update has ended: this process has the lock of its working copy.
		if err := s.backend.client.Cancel(ctx, api.UpdateID{Stack: s.id(), ID: left.Update}); err != nil {
			return &UnsentError{s.ref, h.name(), err}
		}
	case now.Current != nil:
		return &BusyError{s.ref, now.Current.Kind, now.Current.Author}
	case !ours && now.Version != left.Version && !left.Sent:
		content, err := h.content(ctx)
		if err != nil {
			return err
		}
		if left.Sent, err = s.has(ctx, content); err != nil {
			return &UnsentError{s.ref, h.name(), err}
		}
		if !left.Sent {
			return &OvertakenError{s.ref, h.name()}
		}
	}
	if err := s.precede(ctx, left.After); err != nil {
		return &UnsentError{s.ref, h.name(), err}
	}
	if !left.Sent {
		if err := s.send(ctx, h); err != nil {
			return &UnsentError{s.ref, h.name(), err}
		}
		s.backend.note("what the last operation on stack %s recorded on this machine has been sent to the service", s.ref.Name)
	}
	return h.settled(ctx)
}

// precede sends the working copy of a stack that has received resources of this one. Its name may be "".
func (s *stack) precede(ctx context.Context, name string) error {
	parts := strings.Split(name, "/")
	if len(parts) != 3 {
		return nil
	}
	other := &stack{subject: subject{s.backend, backend.Ref{Owner: parts[0], Project: parts[1], Name: parts[2]}}, shared: &shared{}}
	if err := other.settle(ctx); err != nil {
		return err
	}
	c, err := s.backend.copyOf(ctx, other.ref)
	if err != nil {
		return err
	}
	if left, err := c.unsent(ctx); err != nil || left != nil {
		return errors.Join(err, fmt.Errorf("the resources that were moved to stack %s have not been sent yet", other.ref))
	}
	return nil
}

// settle sends the unsent changes of an operation that has ended, unless another process works on the stack.
func (s *stack) settle(ctx context.Context) error {
	c, err := s.backend.copyOf(ctx, s.ref)
	if err != nil {
		return err
	}
	if left, err := c.unsent(ctx); err != nil || left == nil {
		return err
	}
	l, err := s.Lock(ctx, backend.LockOptions{Operation: "recovery"})
	var overtaken *OvertakenError
	switch {
	case errors.As(err, new(*lock.HeldError)):
		return nil // the process with the lock sends it
	case errors.As(err, &overtaken), errors.As(err, new(*BusyError)):
		if s.backend.options.Note != nil {
			s.backend.options.Note(err.Error(), advice.Of(err)...)
		}
		return nil // the stack can be read; a command that changes it returns the error again
	case err != nil:
		return err
	}
	return l.Close()
}

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
	left, err := l.held.unsent(ctx)
	if err == nil && left == nil && l.Lock.Check(ctx) == nil {
		err = l.held.remove(ctx)
	}
	return errors.Join(append(errs, err, l.Lock.Close())...)
}

// toolService is the tool in a lock that represents a running update at the service.
const toolService = "service"

// Locks implements [backend.Stack].
func (s *stack) Locks(ctx context.Context) ([]lock.Held, error) {
	now, err := s.describe(ctx)
	if err != nil {
		return nil, err
	}
	var all []lock.Held
	if now.Current != nil {
		place := fmt.Sprintf("%s, update %s", s.File(ctx), now.ActiveUpdate)
		all = append(all, lock.Held{Path: place, URL: place, Owner: lock.Owner{
			Username: now.Current.Author, Hostname: s.backend.host(), Timestamp: time.Unix(now.Current.Started, 0), Tool: toolService,
			Lease: lock.Lease{Operation: now.Current.Kind},
		}})
	}
	own, err := s.ownLocks(ctx)
	return append(all, own...), err
}

// ownLocks are the locks of the working copy.
func (s *stack) ownLocks(ctx context.Context) ([]lock.Held, error) {
	c, err := s.backend.copyOf(ctx, s.ref)
	if err != nil {
		return nil, err
	}
	there, err := c.dir.Stat(ctx, c.keys.File())
	if err != nil || len(there) == 0 {
		return nil, err
	}
	w, err := c.files.Open(ctx, c.ref())
	if err != nil {
		return nil, err
	}
	return w.Locks(ctx)
}

// BreakLocks implements [backend.Stack].
func (s *stack) BreakLocks(ctx context.Context, all []lock.Held) (int, error) {
	var own []lock.Held
	n := 0
	for _, l := range all {
		if l.Owner.Tool != toolService {
			own = append(own, l)
			continue
		}
		now, err := s.describe(ctx)
		if err != nil {
			return n, err
		}
		if now.Current == nil || now.Current.Started != l.Owner.Timestamp.Unix() {
			continue // it has ended, and another one may have begun
		}
		if err := s.backend.client.Cancel(ctx, api.UpdateID{Stack: s.id(), ID: now.ActiveUpdate}); err != nil {
			return n, err
		}
		n++
	}
	if len(own) == 0 {
		return n, nil
	}
	c, err := s.backend.copyOf(ctx, s.ref)
	if err != nil {
		return n, err
	}
	w, err := c.files.Open(ctx, c.ref())
	if err != nil {
		return n, err
	}
	broken, err := w.BreakLocks(ctx, own)
	return n + broken, err
}

// DiscardJournal implements [backend.Stack].
func (s *stack) DiscardJournal(ctx context.Context) (where string, err error) {
	c, err := s.backend.copyOf(ctx, s.ref)
	if err != nil {
		return "", err
	}
	left, err := c.unsent(ctx)
	if err != nil || left == nil {
		return "", err
	}
	h, _, err := s.take(ctx, backend.LockOptions{Operation: "recovery"})
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, h.lock.Close()) }()
	content, err := h.content(ctx)
	if err != nil {
		return "", err
	}
	if where, err = h.setAside(ctx, content, s.backend.options.Now().UnixNano()); err != nil {
		return "", err
	}
	return where, errors.Join(h.settled(ctx), h.remove(ctx))
}

// forget removes the working copy of a stack that is gone, with its unsent changes.
func (s *stack) forget(ctx context.Context) error {
	c, err := s.backend.copyOf(ctx, s.ref)
	if err != nil {
		return err
	}
	return errors.Join(c.settled(ctx), c.remove(ctx))
}
