package session

import (
	"cmp"
	"context"
	"errors"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
	"github.com/sluice-iac/sluice/state/backend"
)

// ChooseOrAsk is [Session.Choose] for commands that need a stack: if none is selected, a user at a terminal chooses or makes one, which is
// then selected.
func (s *Session) ChooseOrAsk(ctx context.Context, name string) (backend.Ref, error) {
	ref, err := s.Choose(name)
	if !errors.Is(err, errNoStack) || !s.Terminal.Interactive() {
		return ref, err
	}
	return s.AskForStack(ctx)
}

// AskForStack lets the user choose one of the stacks of the project, or make one, and selects it.
func (s *Session) AskForStack(ctx context.Context) (backend.Ref, error) {
	stacks, err := s.Backend.Stacks(ctx, backend.Filter{Project: s.Project.Name})
	if err != nil {
		return backend.Ref{}, err
	}
	answers := make([]string, len(stacks))
	for i, l := range stacks {
		answers[i] = s.NameOf(l.Ref)
	}
	answers = append(answers, "make a new stack")
	at := 0
	if len(stacks) > 0 {
		if at, err = terminal.Choose(ctx, s.Terminal, "Which stack?", answers, 0); err != nil {
			return backend.Ref{}, unanswered(err)
		}
	}
	if at < len(stacks) {
		ref := stacks[at].Ref
		return ref, s.Selection.Select(ref.String())
	}
	return s.askForNewStack(ctx)
}

func (s *Session) askForNewStack(ctx context.Context) (backend.Ref, error) {
	name, err := s.Terminal.Ask(ctx, "The name of the new stack (dev): ")
	if err != nil {
		return backend.Ref{}, err
	}
	made, err := Make(ctx, s, cmp.Or(name, "dev"), cmp.Or(s.provider, "default"), true)
	if err != nil {
		return backend.Ref{}, err
	}
	return made.Ref, nil
}

func unanswered(err error) error {
	if errors.Is(err, terminal.ErrInterrupted) {
		return exit.Cancelledf("no stack was chosen")
	}
	return err
}
