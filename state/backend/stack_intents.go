package backend

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/sluice-iac/sluice/state/lock"
)

// stackIntents are the operations on a stack and another one that have not ended.
//
// Invariant: each is completed or set aside, and none is lost.
type stackIntents struct{ files stackFiles }

// list returns the operations.
func (s stackIntents) list(ctx context.Context) ([]*intent, error) {
	all, err := s.files.storage.intents(ctx)
	var ours []*intent
	for _, p := range all {
		if p.stacks[0].ref == s.files.ref || p.stacks[1].ref == s.files.ref {
			ours = append(ours, p)
		}
	}
	return ours, err
}

// unended describes the operations that have not ended, as the end of another text. It leaves out those that cannot be
// read.
func (s stackIntents) unended(ctx context.Context) string {
	intents, _ := s.list(ctx)
	var b strings.Builder
	for _, p := range intents {
		_ = p.read(ctx) // without its record, it is an operation on the two stacks
		fmt.Fprintf(&b, "; %s has not ended", p)
	}
	return b.String()
}

// exist reports whether there are any.
func (s stackIntents) exist(ctx context.Context) (bool, error) {
	intents, err := s.list(ctx)
	return len(intents) > 0, err
}

// recover completes the operations. The lock of this stack is held. It returns a [*JournalError] for one that may not be
// completed.
func (s stackIntents) recover(ctx context.Context) error {
	intents, err := s.list(ctx)
	if err != nil {
		return err
	}
	for _, p := range intents {
		err := p.recover(ctx, s.files)
		var undecided *IntentError
		if errors.As(err, &undecided) {
			return &JournalError{Stack: s.files.ref.Name, Err: undecided}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// setAside sets the operations aside. The lock of this stack is held: no other process can be about to complete them.
func (s stackIntents) setAside(ctx context.Context) (where []string, err error) {
	intents, err := s.list(ctx)
	if err != nil {
		return nil, err
	}
	for _, p := range intents {
		name := ""
		var unusable *IntentError
		switch err := p.read(ctx); {
		case errors.As(err, &unusable):
			name, err = p.setRecordAside(ctx, s.files)
			if err != nil {
				return where, err
			}
		case err != nil:
			return where, err
		default:
			if name, err = p.setAside(ctx); err != nil {
				return where, err
			}
		}
		where = append(where, name)
	}
	return where, nil
}

// locks lists sluice's locks on the other stack of each operation: the process that began the operation has, or had,
// both. Pulumi's are not among them.
func (s stackIntents) locks(ctx context.Context) (held []lock.Held, err error) {
	intents, err := s.list(ctx)
	if err != nil {
		return nil, err
	}
	for _, p := range intents {
		locks, err := lock.List(ctx, p.other(s.files).lockOptions())
		if err != nil {
			return nil, err
		}
		for _, l := range locks {
			if !l.Unknown && l.Owner.Tool == lock.Tool {
				held = append(held, l)
			}
		}
	}
	return held, nil
}
