package backend

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/state/backend/internal/layout"
	"github.com/sluice-iac/sluice/state/backend/internal/stackfile"
	"github.com/sluice-iac/sluice/state/store"
)

// intent is an operation that changes the files of two stacks, which no store can do at once. Its record with the new
// contents is durable before it writes, so that the next process can complete it after an interrupt (state.md 9.2).
//
// Invariant: as long as one of the files is old and the other is new, the record exists.
type intent struct {
	stacks [2]stackFiles // in the order in which their files are written
	record intentRecord  // empty until it is made or read
}

// The operations that change two stack files.
const (
	renaming = "rename" // the new name first
	moving   = "move"   // the destination first
)

// intentRecord is the record of an operation on two stacks until it has ended. Secrets are sealed in it as they are in the
// files.
type intentRecord struct {
	Format    int       `json:"format"`
	Operation string    `json:"operation"`
	Tool      string    `json:"tool"`
	Start     time.Time `json:"start"`
	Sides     [2]side   `json:"sides"`
}

const intentFormat = 1

// side is the change of one file. Files are named by their [state.Digest]; "" is no file.
type side struct {
	Before string `json:"before"`
	After  string `json:"after"`
	// Content is the file afterwards, before compression.
	Content []byte `json:"content,omitempty"`
}

func sideOf(before, after []byte) side {
	return side{Before: digestOf(before), After: digestOf(after), Content: after}
}

// digestOf is the [state.Digest] of a file, "" for none.
func digestOf(content []byte) string {
	if content == nil {
		return ""
	}
	return state.Digest(content)
}

// storage returns the store with both stacks.
func (p *intent) storage() *storage { return p.stacks[0].storage }

// key returns the key of the record.
func (p *intent) key() string {
	return layout.Intent([2]layout.Stack{p.stacks[0].keys(), p.stacks[1].keys()})
}

// other returns the other stack of the intent.
func (p *intent) other(s stackFiles) stackFiles {
	if p.stacks[0].ref == s.ref {
		return p.stacks[1]
	}
	return p.stacks[0]
}

// read reads the intent. An error is a [*IntentError], or wraps [fs.ErrNotExist] if the operation has ended.
func (p *intent) read(ctx context.Context) error {
	b, _, err := p.storage().store.Read(ctx, p.key())
	if err != nil {
		return err
	}
	var in intentRecord
	switch err := json.Unmarshal(b, &in); {
	case err != nil:
		return p.explain(&IntentError{Err: err})
	case in.Format != intentFormat:
		return p.explain(&IntentError{Err: fmt.Errorf("%s wrote it in format %d, and this version of sluice reads format %d; use that version",
			in.Tool, in.Format, intentFormat)})
	}
	for i, s := range in.Sides {
		if digestOf(s.Content) != s.After {
			return p.explain(&IntentError{Err: fmt.Errorf("the state of stack %s in it is not the one that was written", p.name(i))})
		}
	}
	p.record = in
	return nil
}

// explain adds the name of the record and the operation to an error.
func (p *intent) explain(e *IntentError) *IntentError {
	e.Name = p.storage().store.Name(p.key())
	e.Operation, e.Renaming = p.String(), p.record.Operation == renaming
	return e
}

// begin makes the intent of an operation durable.
func (p *intent) begin(ctx context.Context, operation string, sides [2]side) error {
	s := p.storage()
	p.record = intentRecord{
		Format: intentFormat, Operation: operation, Tool: s.options.Version, Start: s.options.Now().UTC(), Sides: sides,
	}
	b, err := json.Marshal(p.record)
	if err != nil {
		return err
	}
	_, err = s.store.Write(ctx, p.key(), b, store.IfAbsent())
	if err == nil || errors.Is(err, store.ErrConflict) {
		return err
	}
	// The record may have been written nevertheless.
	return errors.Join(err, p.end(context.WithoutCancel(ctx)))
}

// end removes the record of the intent.
func (p *intent) end(ctx context.Context) error { return p.storage().store.Remove(ctx, p.key()) }

// name returns the name of a stack for people.
func (p *intent) name(i int) string {
	s := p.stacks[i]
	return s.ref.Display(s.storage.options.Project, Organization)
}

// String describes the operation.
func (p *intent) String() string {
	switch p.record.Operation {
	case renaming:
		return fmt.Sprintf("the rename of stack %s to %s", p.name(1), p.name(0))
	case moving:
		return fmt.Sprintf("the move of resources from stack %s to stack %s", p.name(1), p.name(0))
	}
	return fmt.Sprintf("an operation on the stacks %s and %s", p.name(1), p.name(0))
}

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
		if _, err := s.storage.store.Write(ctx, key, content, store.Condition{}); err != nil {
			return "", err
		}
		names = append(names, s.storage.store.Name(key))
	}
	return strings.Join(names, " and "), p.end(ctx)
}

// setRecordAside moves a record that cannot be read to a place that no command uses.
func (p *intent) setRecordAside(ctx context.Context, s stackFiles) (where string, err error) {
	key := s.keys().Salvage(fmt.Sprintf("%s.%d.pair", s.ref.Name, s.storage.options.Now().UnixNano()))
	if err := s.storage.store.Copy(ctx, p.key(), key); err != nil {
		return "", err
	}
	return s.storage.store.Name(key), p.end(ctx)
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
		if renamed := to.storage.options.Renamed; renamed != nil {
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

// progress is how far an operation has come.
type progress struct {
	writers [2]*stackfile.Writer
	left    [2]bool // the file is unchanged since before the operation
	absent  [2]bool // there is no file
	foreign int     // the index of the file that another process has written; -1 if there is none
}

// nothingDone wraps the error of an operation that has changed nothing.
func nothingDone(operation string, err error) error {
	return fmt.Errorf("nothing was %sd: %w", operation, err)
}
