package session

import (
	"context"
	"fmt"

	"github.com/sluice-iac/sluice/advice"
	"github.com/sluice-iac/sluice/internal/text/syntax"
	"github.com/sluice-iac/sluice/state/backend"
)

// missingError completes the error for a stack that does not exist: with a stack of the same project that has a similar name, and advice.
func missingError(ctx context.Context, s *Session, ref backend.Ref, missing *backend.NotFoundError) error {
	name := s.NameOf(ref)
	return advice.With(withNearest(ctx, s, ref, name, missing), advice.Advice{Action: advice.MakeStack, Stack: name})
}

// withNearest adds a question with a similar name, if there is one. The text begins as before: scripts look for its first words.
func withNearest(ctx context.Context, s *Session, ref backend.Ref, name string, missing *backend.NotFoundError) error {
	stacks, err := s.Backend.Stacks(ctx, backend.Filter{Project: ref.Project})
	if err != nil {
		return missing // the stack is missing in any case
	}
	names := make([]string, len(stacks))
	for i, l := range stacks {
		names[i] = s.NameOf(l.Ref)
	}
	if near := syntax.Nearest(name, names); near != "" {
		return fmt.Errorf("%w; %s", missing, near)
	}
	return missing
}
