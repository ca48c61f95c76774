package backend

import (
	"context"
	"errors"
	"fmt"

	"github.com/sluice-iac/sluice/state/backend/internal/stackfile"
	"github.com/sluice-iac/sluice/state/store"
)

// progress is how far an operation has come.
type progress struct {
	writers [2]*stackfile.Writer
	left    [2]bool // the file is unchanged since before the operation
	absent  [2]bool // there is no file
	foreign int     // the index of the file that another process has written; -1 if there is none
}

// look finds out how far the operation has come. The returned writers replace only the content that it has read.
func (p *intent) look(ctx context.Context) (*progress, error) {
	g := &progress{foreign: -1}
	for i, s := range p.stacks {
		var err error
		if g.writers[i], err = s.file().Writer(ctx); err != nil {
			return nil, err
		}
		content, err := s.content(ctx)
		if err != nil {
			return nil, err
		}
		g.absent[i] = content == nil
		switch digestOf(content) {
		case p.record.Sides[i].After:
		case p.record.Sides[i].Before:
			g.left[i] = true
		default:
			g.foreign = i
		}
	}
	// The first file is written first. If only the second one has changed, the first has been put back since.
	second := p.record.Sides[1]
	if g.foreign < 0 && g.left[0] && !g.left[1] && second.Before != second.After {
		g.foreign = 0
	}
	return g, nil
}

// run makes the intent durable and carries it out. The locks of both stacks are held, and before has the contents of their files
// when after was computed. An error reports whether anything has changed. An operation that could neither be completed nor undone is
// completed when one of the locks is taken next.
func (p *intent) run(ctx context.Context, operation string, before, after [2][]byte) error {
	sides := [2]side{sideOf(before[0], after[0]), sideOf(before[1], after[1])}
	if err := p.begin(ctx, operation, sides); err != nil {
		return nothingDone(operation, err)
	}
	ctx = context.WithoutCancel(ctx) // the rest is short
	g, err := p.look(ctx)
	if err == nil && g.foreign >= 0 {
		err = p.stale(ctx, g.foreign, nil)
	}
	if err != nil {
		return nothingDone(operation, errors.Join(err, p.end(ctx)))
	}
	if err := p.write(ctx, g); err != nil {
		return p.undo(ctx, before, err)
	}
	remark, follows, err := p.finish(ctx)
	if remark != "" {
		p.storage().options.note(fmt.Sprintf("%s: %s", p, remark))
	}
	return errors.Join(follows, err)
}

// stale is the error for a file that another process has written since the new contents were computed.
func (p *intent) stale(ctx context.Context, i int, cause error) error {
	return &StaleStateError{Ref: p.stacks[i].ref, File: p.stacks[i].file().Name(ctx), Err: cause}
}

// nothingDone wraps the error of an operation that has changed nothing.
func nothingDone(operation string, err error) error {
	return fmt.Errorf("nothing was %sd: %w", operation, err)
}

// write writes the files that are not written yet.
func (p *intent) write(ctx context.Context, g *progress) error {
	for i, s := range p.stacks {
		if !g.left[i] {
			continue
		}
		content := p.record.Sides[i].Content
		var err error
		if content == nil {
			err = s.file().Remove(ctx, true)
		} else {
			err = g.writers[i].Replace(ctx, content)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// undo puts the first file back after the second could not be written. If both are written, or that fails too, the
// intent stays.
func (p *intent) undo(ctx context.Context, before [2][]byte, cause error) error {
	g, err := p.look(ctx)
	if err == nil && g.foreign == 0 && g.left[1] && errors.Is(cause, store.ErrConflict) { // the first write was refused
		return nothingDone(p.record.Operation, errors.Join(p.stale(ctx, 0, cause), p.end(ctx)))
	}
	if err == nil && g.foreign >= 0 {
		return fmt.Errorf("%s has begun, and somebody else has written stack %s meanwhile: %w; the next operation on one of the two stacks "+
			"says what to do", p, p.name(g.foreign), cause)
	}
	if err == nil && !g.left[0] && g.left[1] {
		if before[0] == nil {
			err = p.stacks[0].file().Remove(ctx, false)
		} else {
			err = g.writers[0].Replace(ctx, before[0])
		}
		g.left[0] = err == nil
	}
	if err == nil && g.left[0] {
		if err = p.end(ctx); err == nil {
			return nothingDone(p.record.Operation, cause)
		}
	}
	return fmt.Errorf("%s has begun and could not be completed: %w; the next operation on one of the two stacks completes it",
		p, errors.Join(cause, err))
}

// finish does the rest after both files are written, and ends the intent. A second call does no harm. remark and follows are
// the results for the files of the project (see [Options.Renamed]).
func (p *intent) finish(ctx context.Context) (remark string, follows, err error) {
	if p.record.Operation == renaming {
		to, from := p.stacks[0], p.stacks[1]
		if err := moveHistoryAndTags(ctx, from, to); err != nil {
			return "", nil, fmt.Errorf("stack %s is there now, but not everything of %s is gone: %w; the next operation on stack %s completes it",
				to.ref, from.ref, err, to.ref.Name)
		}
		if renamed := to.options.Renamed; renamed != nil {
			remark, follows = renamed(from.ref, to.ref)
		}
	}
	return remark, follows, p.end(ctx)
}

// moveHistoryAndTags moves the tags and the history of a stack to its new name.
func moveHistoryAndTags(ctx context.Context, from, to stackFiles) error {
	if err := (tags{from}).moveTo(ctx, to); err != nil {
		return err
	}
	return history{from}.moveTo(ctx, to)
}
