package backend

import (
	"context"
	"errors"

	"github.com/sluice-iac/sluice/state/lock"
)

// stackPairs are the operations on a stack and another one that have not ended.
//
// Invariant: each is completed or set aside, and none is forgotten.
type stackPairs struct{ stackFiles }

// list returns them.
func (s stackPairs) list(ctx context.Context) ([]*pair, error) {
	all, err := s.pairs(ctx)
	var ours []*pair
	for _, p := range all {
		if p.stacks[0].ref == s.ref || p.stacks[1].ref == s.ref {
			ours = append(ours, p)
		}
	}
	return ours, err
}

// exist reports whether there is one.
func (s stackPairs) exist(ctx context.Context) (bool, error) {
	pairs, err := s.list(ctx)
	return len(pairs) > 0, err
}

// recover completes them. The lock of this stack is held. It returns a [*JournalError] for one that may not be completed.
func (s stackPairs) recover(ctx context.Context) error {
	pairs, err := s.list(ctx)
	if err != nil {
		return err
	}
	for _, p := range pairs {
		err := p.recover(ctx, s.stackFiles)
		var undecided *PairError
		if errors.As(err, &undecided) {
			return &JournalError{Stack: s.ref.Name, Err: undecided}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// setAside sets them aside. The lock of this stack is held: nobody else can be about to complete them.
func (s stackPairs) setAside(ctx context.Context) (where []string, err error) {
	pairs, err := s.list(ctx)
	if err != nil {
		return nil, err
	}
	for _, p := range pairs {
		name := ""
		var unusable *PairError
		switch err := p.read(ctx); {
		case errors.As(err, &unusable):
			name, err = p.setRecordAside(ctx, s.stackFiles)
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

// locks lists the locks that sluice has of the other stack of each of them: whoever began the operation has both, or had.
// Pulumi's are not among them.
func (s stackPairs) locks(ctx context.Context) (held []lock.Held, err error) {
	pairs, err := s.list(ctx)
	if err != nil {
		return nil, err
	}
	for _, p := range pairs {
		locks, err := lock.List(ctx, p.other(s.stackFiles).lockOptions())
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
