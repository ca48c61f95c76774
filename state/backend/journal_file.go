package backend

import (
	"context"
	"errors"
	"io/fs"

	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/state/journal"
	"github.com/sluice-iac/sluice/state/store"
)

// journalFile keeps the journal of a stack beside the stacks, and with it the stack file that it begins with
// (state.md 9.5).
type journalFile struct {
	store.Log
	stack *fileStack
}

var _ journal.Store = (*journalFile)(nil)

func (s *fileStack) journal() *journalFile {
	j := &journalFile{stack: s}
	j.Log = store.NewLog(s.backend.store, j.key())
	return j
}

func (j *journalFile) key() string {
	return j.stack.backend.key("sluice", "journal", j.stack.ref.Project, j.stack.ref.Name+".jnl")
}

func (j *journalFile) base() string { return j.key() + ".base" }

// Name implements [journal.Store].
func (j *journalFile) Name() string { return j.stack.backend.store.Name(j.key()) }

// Base implements [journal.Store].
func (j *journalFile) Base(ctx context.Context) ([]byte, error) {
	b, _, err := j.stack.backend.store.Read(ctx, j.base())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if b == nil {
		b = []byte{}
	}
	return b, err
}

// Create implements [journal.Store]. The base is a copy, not a second name of the stack file: somebody may write into that with
// an editor, and what was there before is needed most of all then.
func (j *journalFile) Create(ctx context.Context, first, base []byte) error {
	if len(base) > 0 {
		if _, err := j.stack.backend.store.Write(ctx, j.base(), base, store.Condition{}); err != nil {
			return err
		}
	}
	return j.Log.Create(ctx, first)
}

// Remove implements [journal.Store].
func (j *journalFile) Remove(ctx context.Context) error {
	if err := j.Log.Remove(ctx); err != nil {
		return err
	}
	return j.stack.backend.store.Remove(ctx, j.base())
}

// begins tells whether the journal begins with this state.
func (j *journalFile) begins(ctx context.Context, digest string) bool {
	base, err := j.Base(ctx)
	return err != nil || base == nil || state.Digest(base) == digest
}
