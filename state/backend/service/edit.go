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
	before, err := h.content(ctx)
	if err != nil {
		return err
	}
	now, err := s.describe(ctx)
	if err != nil {
		return err
	}
	if now.Current != nil {
		return &BusyError{s.ref, now.Current.Kind, now.Current.Author}
	}
	if err := h.mark(ctx, unsent{Version: now.Version}); err != nil {
		return err
	}
	if err = change(); err == nil {
		err = s.send(ctx, h)
	}
	if err != nil && api.IsAway(err) {
		return &UnsentError{s.ref, h.name(), err}
	}
	if err != nil {
		err = errors.Join(err, h.replace(ctx, before))
	}
	return errors.Join(err, h.settled(ctx))
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

// outgoing returns the state in the content of a working copy as it travels.
func (s *stack) outgoing(ctx context.Context, content []byte) (api.Deployment, error) {
	summary, err := state.Summarise(content, s.File(ctx))
	if err != nil {
		return api.Deployment{}, err
	}
	if content, err = s.backend.delivered(ctx, summary.SecretsProvider, content); err != nil {
		return api.Deployment{}, err
	}
	return deploymentOf(content)
}

// SaveMove implements [backend.Stack]. The destination is written first: until the other one is written, too, both have the resources.
func (s *stack) SaveMove(ctx context.Context, own *state.Snapshot, dest backend.Stack, destState *state.Snapshot) error {
	to, is := dest.(*stack)
	if !is || to.backend != s.backend {
		return fmt.Errorf("nothing was moved: the stacks %s and %s are not of the same backend", s.ref, dest.Ref())
	}
	if err := to.Save(ctx, destState); err != nil {
		return err
	}
	if err := s.Save(ctx, own); err != nil {
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
