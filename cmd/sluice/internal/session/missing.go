package session

import (
	"context"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/format"
	"github.com/sluice-iac/sluice/internal/text/syntax"
	"github.com/sluice-iac/sluice/state/backend"
)

// missingError reports that a stack does not exist, and what to do.
type missingError struct {
	missing *backend.NotFoundError
	name    string // of the stack, as used in the project
	near    string // a question with a similar name; "" if there is none
}

// newMissingError looks for stacks of the same project with a similar name.
func newMissingError(ctx context.Context, s *Session, ref backend.Ref, missing *backend.NotFoundError) error {
	e := &missingError{missing: missing, name: s.NameOf(ref)}
	stacks, err := s.Backend.Stacks(ctx, backend.Filter{Project: ref.Project})
	if err != nil {
		return e // the stack is missing in any case
	}
	names := make([]string, len(stacks))
	for i, l := range stacks {
		names[i] = s.NameOf(l.Ref)
	}
	e.near = syntax.Nearest(e.name, names)
	return e
}

func (e *missingError) Error() string {
	text := e.missing.Error() // scripts look for its first words
	if e.near != "" {
		text += "; " + e.near
	}
	return text + "\n`sluice stack ls` lists the stacks; `sluice stack init " + format.ShellQuote(e.name) + "` makes this one"
}

func (e *missingError) Unwrap() error { return e.missing }
