package backend

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/sluice-iac/sluice/state/journal"
)

// journalFile keeps the journal of a stack in a file, and beside it the stack file that it begins with (state.md 9.5).
type journalFile struct {
	stack *fileStack
	open  *os.File // while it is appended to; nil before that
}

var _ journal.Store = (*journalFile)(nil)

func (s *fileStack) journal() *journalFile { return &journalFile{stack: s} }

func (j *journalFile) path() string {
	return filepath.Join(j.stack.backend.path("sluice", "journal"), j.stack.ref.Project, j.stack.ref.Name+".jnl")
}

func (j *journalFile) base() string { return j.path() + ".base" }

// exists tells whether there is a journal, of whatever content.
func (j *journalFile) exists() bool {
	_, err := os.Lstat(j.path())
	return err == nil
}

// Name implements [journal.Store].
func (j *journalFile) Name() string { return j.path() }

// Read implements [journal.Store].
func (j *journalFile) Read(context.Context) ([]byte, error) { return readIfExists(j.path()) }

// Base implements [journal.Store].
func (j *journalFile) Base(context.Context) ([]byte, error) { return readIfExists(j.base()) }

// readIfExists returns nil if there is no such file.
func readIfExists(path string) ([]byte, error) {
	b, err := os.ReadFile(path)
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
func (j *journalFile) Create(_ context.Context, first, base []byte) error {
	w := j.stack.backend.writer
	dir := filepath.Dir(j.path())
	if err := makeDurable(dir); err != nil {
		return err
	}
	if len(base) > 0 {
		if err := w.replace(j.base(), base); err != nil {
			return err
		}
	}
	f, err := os.OpenFile(j.path(), os.O_WRONLY|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o666)
	if err != nil {
		return err
	}
	j.open = f
	if err := j.write(first); err != nil {
		return err
	}
	return syncDir(dir)
}

// Append implements [journal.Store].
func (j *journalFile) Append(_ context.Context, b []byte) error {
	if j.open == nil {
		f, err := os.OpenFile(j.path(), os.O_WRONLY|os.O_APPEND, 0)
		if err != nil {
			return err
		}
		j.open = f
	}
	return j.write(b)
}

func (j *journalFile) write(b []byte) error {
	if err := j.stack.backend.writer.at(momentAppending); err != nil {
		return err
	}
	if _, err := j.open.Write(b); err != nil {
		return err
	}
	return j.open.Sync()
}

// Truncate implements [journal.Store].
func (j *journalFile) Truncate(_ context.Context, size int64) error {
	f, err := os.OpenFile(j.path(), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Truncate(size), f.Sync(), f.Close())
}

// Remove implements [journal.Store].
func (j *journalFile) Remove(context.Context) error {
	if j.open != nil {
		_ = j.open.Close() // everything in it is durable
		j.open = nil
	}
	if err := removeIfExists(j.path()); err != nil {
		return err
	}
	if err := syncDir(filepath.Dir(j.path())); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return removeIfExists(j.base())
}

// makeDurable makes a directory and sees to it that its name lasts, and those of the directories that had to be made for it.
func makeDurable(dir string) error {
	var made []string
	for d := dir; ; d = filepath.Dir(d) {
		if _, err := os.Stat(d); err == nil || d == filepath.Dir(d) {
			break
		}
		made = append(made, filepath.Dir(d))
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	for _, parent := range made {
		if err := syncDir(parent); err != nil {
			return err
		}
	}
	return nil
}
