package stateedit

import (
	"context"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/interrupts"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/session"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/state/backend"
)

// Edit is one edit of the state of one stack while it goes on. The stack is locked.
type Edit struct {
	*session.Stack
	Holder   *interrupts.Holder
	Flags    *Flags
	Snapshot *state.Snapshot // without resources for a stack that was never deployed
}

// Run locks a stack and runs edit on its state. Secrets stay sealed: no passphrase is needed. anyState also opens states
// that fail the integrity check.
func Run(ctx context.Context, open *session.Opener, f *Flags, anyState bool, edit func(context.Context, *Edit) error) error {
	s, err := open.State(ctx, f.Stack)
	if err != nil {
		return err
	}
	return interrupts.Hold(ctx, s.Terminal, []backend.Stack{s.State}, func(h *interrupts.Holder) error {
		snapshot, err := s.State.LoadSealed(ctx)
		if err == nil && !anyState {
			err = s.State.Check(ctx, snapshot)
		}
		if err != nil {
			return err
		}
		if snapshot == nil {
			snapshot = &state.Snapshot{}
		}
		return edit(ctx, &Edit{Stack: s, Holder: h, Flags: f, Snapshot: snapshot})
	})
}

// Save asks whether to make a change and writes it. plan is what it will do, as shown to whoever is asked.
func (e *Edit) Save(ctx context.Context, now *state.Snapshot, plan string) error {
	if err := confirm(e.Terminal, e.Flags, plan); err != nil {
		return err
	}
	return e.Write(ctx, now)
}

// Write writes a state without asking.
func (e *Edit) Write(ctx context.Context, now *state.Snapshot) error {
	return e.Holder.Busy(func() error { return e.State.Save(ctx, now) })
}
