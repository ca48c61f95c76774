package stateedit

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/pflag"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/decisions"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/flags"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/interrupts"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/session"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
	"github.com/sluice-iac/sluice/stages/why"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/state/backend"
)

// Edit is an edit of the state of one stack in progress. The stack is locked.
type Edit struct {
	Terminal *terminal.Terminal
	Holder   *interrupts.Holder
	Flags    *Flags
	Ref      backend.Ref
	Name     string          // of the stack, as used in the project
	Snapshot *state.Snapshot // without resources for a stack that was never deployed

	session *session.Stack
	stack   backend.Editable
}

// Run locks a stack and runs edit on its state. Secrets stay encrypted, so no passphrase is needed. If anyState is set,
// Run also opens a state that fails the integrity check.
func Run(ctx context.Context, open *session.Opener, f *Flags, anyState bool, edit func(context.Context, *Edit) error) error {
	s, err := open.State(ctx, f.Stack)
	if err != nil {
		return err
	}
	return interrupts.Hold(ctx, s.Session.Terminal, []backend.Lockable{s.State}, func(h *interrupts.Holder) error {
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
		return edit(ctx, &Edit{
			Terminal: s.Session.Terminal, Holder: h, Flags: f, Ref: s.Ref, Name: s.Name(), Snapshot: snapshot, session: s, stack: s.State,
		})
	})
}

// File returns the name of the stack file, for messages.
func (e *Edit) File(ctx context.Context) string { return e.stack.File(ctx) }

// Save requests a confirmation of a change, and writes the state. plan describes the change to the user.
func (e *Edit) Save(ctx context.Context, now *state.Snapshot, plan string) error {
	if err := confirm(ctx, e.Terminal, e.Flags, plan); err != nil {
		return err
	}
	return e.Write(ctx, now)
}

// Depart records that resources have left the state, for `sluice why` and the next preview.
func (e *Edit) Depart(ctx context.Context, departed why.Departures) {
	decisions.Depart(ctx, e.session, departed)
}

// Write writes a state without a confirmation.
func (e *Edit) Write(ctx context.Context, now *state.Snapshot) error {
	return e.Holder.Busy(func() error { return e.stack.Save(ctx, now) })
}

// confirm requests a confirmation at a terminal. Without a terminal it requests none, like Pulumi, because scripts
// cannot answer.
func confirm(ctx context.Context, t *terminal.Terminal, f *Flags, plan string) error {
	if f.Yes || f.JSON || !t.Interactive() {
		return nil
	}
	return ConfirmPlan(ctx, t, plan)
}

// ConfirmPlan shows the plan and requests a confirmation.
func ConfirmPlan(ctx context.Context, t *terminal.Terminal, plan string) error {
	fmt.Fprint(t.Out, plan)
	confirmed, err := terminal.Confirm(ctx, t, "Do you want to change the state like this?")
	if err == nil && !confirmed {
		err = errors.New("confirmation declined; the state is unchanged")
	}
	return err
}

// Flags are the flags of most commands on states.
type Flags struct {
	Stack     string
	Yes, JSON bool
}

// Add registers the flags.
func (f *Flags) Add(p *pflag.FlagSet) {
	flags.AddStack(p, &f.Stack)
	f.AddAnswers(p)
}

// AddAnswers registers the flags that do not select the stack.
func (f *Flags) AddAnswers(p *pflag.FlagSet) {
	flags.AddYes(p, &f.Yes, "do not ask for confirmation")
	flags.AddJSON(p, &f.JSON, "write what has changed as JSON, and ask nothing")
}
