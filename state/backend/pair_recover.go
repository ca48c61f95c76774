package backend

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/state/lock"
	"github.com/sluice-iac/sluice/state/store"
)

// PairError says why an operation on two stacks that was cut off may not be completed.
type PairError struct {
	Name      string // of the record of what it was about to write
	Operation string // what it is, for people
	Foreign   string // the stack that somebody else has written since; "" for a record that cannot be used
	Renaming  bool
	// Both are the resources that both stacks record, as the one that was to lose them does.
	Both []*state.Resource
	Err  error // what is wrong with the record
}

func (e *PairError) Error() string {
	if e.Foreign == "" {
		return fmt.Sprintf("%s, the record of %s that was cut off, cannot be used: %v", e.Name, e.Operation, e.Err)
	}
	return fmt.Sprintf("%s was cut off, and stack %s has been written by somebody else since; it was not completed", e.Operation, e.Foreign)
}

func (e *PairError) Unwrap() error { return e.Err }

// advice says what to do.
func (e *PairError) advice() string {
	var b strings.Builder
	if len(e.Both) > 0 {
		b.WriteString("\nBoth stacks record")
		for i, r := range e.Both {
			if i == shown {
				fmt.Fprintf(&b, "\n  and %d more", len(e.Both)-shown)
				break
			}
			fmt.Fprintf(&b, "\n  %s (ID %s)", r.URN, r.ID)
		}
	}
	b.WriteString("\nCompare the two stacks (`sluice stack --show-urns`). Put the record aside with `sluice recover --discard`; then ")
	if e.Renaming {
		b.WriteString("`sluice stack rm --force` removes the stack that should not be there, and deletes no object")
	} else {
		b.WriteString("`sluice state delete` takes what both stacks record out of one of them, and deletes no object")
	}
	return b.String()
}

// explain completes an error.
func (p *pair) explain(e *PairError) *PairError {
	e.Name = p.stacks[0].backend.store.Name(p.key())
	e.Operation, e.Renaming = p.String(), p.intent.Operation == renaming
	return e
}

// recoverPairs completes the operations on this stack and another one that were cut off. The lock of this one is held. It
// returns a [*JournalError] for one that may not be completed.
func (s *fileStack) recoverPairs(ctx context.Context) error {
	pairs, err := s.pairs(ctx)
	if err != nil {
		return err
	}
	for _, p := range pairs {
		err := p.recover(ctx, s)
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

// recover completes the operation. The lock of one of the stacks is held.
func (p *pair) recover(ctx context.Context, locked *fileStack) (err error) {
	other := p.other(locked)
	l, err := other.lock(ctx, LockOptions{Operation: "recovery"})
	if err != nil {
		return fmt.Errorf("complete an operation on the stacks %s and %s that was cut off: %w", p.name(1), p.name(0), err)
	}
	defer func() { err = errors.Join(err, l.Release()) }()
	if err := p.read(ctx); errors.Is(err, fs.ErrNotExist) {
		return nil // somebody else was faster
	} else if err != nil {
		return err
	}
	g, err := p.look(ctx)
	if err != nil {
		return err
	}
	if g.foreign >= 0 {
		return p.refuse(ctx, g)
	}
	if err := p.write(ctx, g); err != nil {
		return err
	}
	remark, follows, err := p.finish(ctx)
	if err != nil {
		return err
	}
	if follows != nil {
		remark = follows.Error()
	}
	note := fmt.Sprintf("%s, begun at %s, was cut off; it has been completed", p, p.intent.Start.Format(time.RFC3339))
	if remark != "" {
		note += ": " + remark
	}
	locked.backend.note(note)
	return nil
}

// refuse leaves an operation alone because somebody else has written one of the files. If there is nothing that could be in both
// stacks, that is the end of it.
func (p *pair) refuse(ctx context.Context, g *progress) error {
	if g.absent[0] && (g.absent[1] || p.intent.Operation == renaming) {
		where, err := p.setAside(ctx)
		if err == nil {
			p.stacks[0].backend.note(fmt.Sprintf("%s was cut off, and somebody else has removed or written the stack since; it was not completed, "+
				"and what it was about to write is kept in %s", p, where))
		}
		return err
	}
	e := p.explain(&PairError{Foreign: p.name(g.foreign)})
	e.Both = p.inBoth(ctx)
	return e
}

// inBoth lists the resources of the second stack that the first one records, too. It is for a message: what cannot be read is
// not in it.
func (p *pair) inBoth(ctx context.Context) (both []*state.Resource) {
	type identity struct{ kind, id string }
	there := map[identity]bool{}
	for i, s := range p.stacks {
		snapshot, err := s.LoadSealed(ctx)
		if err != nil || snapshot == nil {
			return nil
		}
		for _, r := range snapshot.Resources {
			what := identity{string(r.Type), r.ID}
			switch {
			case r.ID == "" || r.Type.IsProvider():
			case i == 0:
				there[what] = true
			case there[what]:
				both = append(both, r)
			}
		}
	}
	return both
}

// setAside keeps what the operation was about to write where no command uses it, as checkpoints, and ends it. It returns where.
func (p *pair) setAside(ctx context.Context) (where string, err error) {
	var names []string
	for i, s := range p.stacks {
		content := p.intent.Sides[i].Content
		if content == nil {
			continue
		}
		key := s.salvage(fmt.Sprintf("%s.%d.%s.json", s.ref.Name, p.intent.Start.UnixNano(), p.intent.Operation))
		if _, err := s.backend.store.Write(ctx, key, content, store.Condition{}); err != nil {
			return "", err
		}
		names = append(names, s.backend.store.Name(key))
	}
	return strings.Join(names, " and "), p.end(ctx)
}

// discardPairs puts the operations on this stack and another one aside that were cut off. The lock is held: nobody else can be
// about to complete them.
func (s *fileStack) discardPairs(ctx context.Context) (where []string, err error) {
	pairs, err := s.pairs(ctx)
	if err != nil {
		return nil, err
	}
	for _, p := range pairs {
		name := ""
		var unusable *PairError
		switch err := p.read(ctx); {
		case errors.As(err, &unusable):
			name, err = p.setRecordAside(ctx, s)
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

// setRecordAside keeps a record that cannot be read as it is.
func (p *pair) setRecordAside(ctx context.Context, s *fileStack) (where string, err error) {
	key := s.salvage(fmt.Sprintf("%s.%d.pair", s.ref.Name, s.backend.options.Now().UnixNano()))
	if err := s.backend.store.Copy(ctx, p.key(), key); err != nil {
		return "", err
	}
	return s.backend.store.Name(key), p.end(ctx)
}

// pairLocks lists the locks that sluice has of the other stack of each operation that was cut off: whoever began it has both, or
// had. Pulumi's are not among them.
func (s *fileStack) pairLocks(ctx context.Context) (held []lock.Held, err error) {
	pairs, err := s.pairs(ctx)
	if err != nil {
		return nil, err
	}
	for _, p := range pairs {
		locks, err := lock.List(ctx, p.other(s).lockOptions())
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
