package backend

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/state/store"
)

// recover completes the operation. The lock of one of the stacks is held.
func (p *intent) recover(ctx context.Context, locked stackFiles) (err error) {
	other := p.other(locked)
	l, err := other.lock(ctx, LockOptions{Operation: "recovery"})
	if err != nil {
		return fmt.Errorf("complete an operation on the stacks %s and %s that was interrupted: %w", p.name(1), p.name(0), err)
	}
	defer func() { err = errors.Join(err, l.Release()) }()
	if err := p.read(ctx); errors.Is(err, fs.ErrNotExist) {
		return nil // another process has completed it
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
	note := fmt.Sprintf("%s, begun at %s, was interrupted; it has been completed", p, p.record.Start.Format(time.RFC3339))
	if remark != "" {
		note += ": " + remark
	}
	p.storage().options.note(note)
	return nil
}

// refuse leaves an operation alone because another process has written one of the files. If nothing could be in both stacks,
// it ends the operation.
func (p *intent) refuse(ctx context.Context, g *progress) error {
	if g.absent[0] && (g.absent[1] || p.record.Operation == renaming) {
		where, err := p.setAside(ctx)
		if err == nil {
			p.storage().options.note(fmt.Sprintf("%s was interrupted, and somebody else has removed or written the stack since; it was not completed, "+
				"and what it was about to write is kept in %s", p, where))
		}
		return err
	}
	e := p.explain(&IntentError{Foreign: p.name(g.foreign)})
	e.Both = p.inBoth(ctx)
	return e
}

// inBoth lists the resources of the second stack that the first one records, too. It is for a message, and leaves out
// states that cannot be read.
func (p *intent) inBoth(ctx context.Context) (both []*state.Resource) {
	type identity struct{ kind, id string }
	there := map[identity]bool{}
	for i, s := range p.stacks {
		snapshot, err := s.load(ctx)
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

// setAside writes the new contents of the operation as checkpoints to a place that no command uses, and ends the
// operation. It returns the place.
func (p *intent) setAside(ctx context.Context) (where string, err error) {
	var names []string
	for i, s := range p.stacks {
		content := p.record.Sides[i].Content
		if content == nil {
			continue
		}
		key := s.keys().Salvage(fmt.Sprintf("%s.%d.%s.json", s.ref.Name, p.record.Start.UnixNano(), p.record.Operation))
		if _, err := s.store.Write(ctx, key, content, store.Condition{}); err != nil {
			return "", err
		}
		names = append(names, s.store.Name(key))
	}
	return strings.Join(names, " and "), p.end(ctx)
}

// setRecordAside moves a record that cannot be read to a place that no command uses.
func (p *intent) setRecordAside(ctx context.Context, s stackFiles) (where string, err error) {
	key := s.keys().Salvage(fmt.Sprintf("%s.%d.pair", s.ref.Name, s.options.Now().UnixNano()))
	if err := s.store.Copy(ctx, p.key(), key); err != nil {
		return "", err
	}
	return s.store.Name(key), p.end(ctx)
}
