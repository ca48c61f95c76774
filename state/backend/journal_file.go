package backend

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/state/journal"
	"github.com/sluice-iac/sluice/state/store"
)

// journalFile keeps the journal of a stack beside the stacks, and with it the stack file that the journal starts from
// (state.md 9.5).
//
// Invariant: a journal, or a part of one, that was not applied is set aside before it is removed.
type journalFile struct {
	store.Log
	stack stackFiles
}

var _ journal.Store = (*journalFile)(nil)

func (s stackFiles) journal() *journalFile {
	return &journalFile{store.NewLog(s.store, s.keys().Journal()), s}
}

func (j *journalFile) base() string { return j.stack.keys().JournalBase() }

// Name implements [journal.Store].
func (j *journalFile) Name() string { return j.stack.store.Name(j.stack.keys().Journal()) }

// Base implements [journal.Store].
func (j *journalFile) Base(ctx context.Context) ([]byte, error) {
	b, _, err := j.stack.store.Read(ctx, j.base())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if b == nil {
		b = []byte{}
	}
	return b, err
}

// Create implements [journal.Store]. The base is a copy, not a second name of the stack file: a user may edit that file
// in place, and then the previous content is needed.
func (j *journalFile) Create(ctx context.Context, first, base []byte) error {
	if len(base) > 0 {
		if _, err := j.stack.store.Write(ctx, j.base(), base, store.Condition{}); err != nil {
			return err
		}
	}
	return j.Log.Create(ctx, first)
}

// Remove implements [journal.Store]. The base of another journal stays.
func (j *journalFile) Remove(ctx context.Context) error {
	if err := j.Log.Remove(ctx); err != nil {
		return err
	}
	if another, err := j.Exists(ctx); err != nil || another {
		return err
	}
	return j.stack.store.Remove(ctx, j.base())
}

// sweep removes the remains of a journal whose process was killed while it made or removed the journal. No complete
// journal exists.
func (j *journalFile) sweep(ctx context.Context) error {
	if err := j.Log.Sweep(ctx); err != nil {
		return err
	}
	return j.stack.store.Remove(ctx, j.base())
}

// begins reports whether the journal starts from this state.
func (j *journalFile) begins(ctx context.Context, digest string) bool {
	base, err := j.Base(ctx)
	return err != nil || base == nil || state.Digest(base) == digest
}

// setAllAside sets all journals aside.
func (j *journalFile) setAllAside(ctx context.Context) (where string, err error) {
	var all []string
	for {
		where, err := j.setAside(ctx)
		if err != nil || where == "" {
			return strings.Join(all, " and "), err
		}
		all = append(all, where)
	}
}

// setAside moves a journal to a place that no command uses. It returns the place, "" if there is no journal.
func (j *journalFile) setAside(ctx context.Context) (where string, err error) {
	b, err := j.Read(ctx)
	if err != nil || b == nil {
		return "", err
	}
	if where, err = j.salvage(ctx, "jnl", b); err != nil {
		return "", err
	}
	return where, j.Remove(ctx)
}

// setTornAside sets aside the bytes at the end of the journal that are from an incomplete write, and notifies the user. The caller
// cuts them off next.
func (j *journalFile) setTornAside(ctx context.Context, torn []byte) error {
	where, err := j.salvage(ctx, "torn", torn)
	if err != nil {
		return fmt.Errorf("keep the end of the journal of stack %s: %w", j.stack.ref.Name, err)
	}
	j.stack.options.note(fmt.Sprintf("the journal of stack %s ends with %d bytes of a write that never finished. "+
		"They are not applied, as nothing has relied on them, and are kept in %s", j.stack.ref.Name, len(torn), where))
	return nil
}

// salvage writes a part of the journal to a place that no command uses, and returns the place.
func (j *journalFile) salvage(ctx context.Context, kind string, content []byte) (where string, err error) {
	s := j.stack
	key := s.keys().Salvage(fmt.Sprintf("%s.%d.%s", s.ref.Name, s.options.Now().UnixNano(), kind))
	_, err = s.store.Write(ctx, key, content, store.Condition{})
	return s.store.Name(key), err
}
