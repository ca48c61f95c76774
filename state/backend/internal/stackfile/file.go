package stackfile

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/sluice-iac/sluice/advice"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/state/backend/internal/compression"
	"github.com/sluice-iac/sluice/state/backend/internal/layout"
	"github.com/sluice-iac/sluice/state/store"
)

// File is the stack file of one stack. It has no mutable state.
type File struct {
	Store  store.Store
	Keys   layout.Stack
	Stack  string             // its name, for messages
	Format compression.Format // of the files that it writes
	Retain bool               // a copy of each version is kept
	Now    func() time.Time
}

// Current returns the stack file: of the existing variants the one modified last, and of equally old ones the last in key
// order (state.md 4.5). If there is none it returns the key to write, and an empty description.
func (f File) Current(ctx context.Context) (key string, newest store.Info, err error) {
	present, err := f.Store.Stat(ctx, f.Keys.Variants()...)
	if err != nil {
		return "", store.Info{}, err
	}
	for _, i := range present {
		if newest.Key == "" || !i.Modified.Before(newest.Modified) {
			newest = i
		}
	}
	if newest.Key == "" {
		return f.Keys.File() + f.Format.Extension(), store.Info{}, nil
	}
	return newest.Key, newest, nil
}

// Name returns the name of the stack file, for messages.
func (f File) Name(ctx context.Context) string {
	current, _, err := f.Current(ctx)
	if err != nil {
		current = f.Keys.File()
	}
	return f.Store.Name(current)
}

// Read returns the content of the stack file, uncompressed, and the name of the file. The error wraps [fs.ErrNotExist] when
// there is none, and is a [*state.DecodeError] when it cannot be uncompressed.
func (f File) Read(ctx context.Context) (content []byte, name string, err error) {
	key, _, err := f.Current(ctx)
	if err != nil {
		return nil, "", err
	}
	name = f.Store.Name(key)
	packed, _, err := f.Store.Read(ctx, key)
	if err != nil {
		return nil, "", err
	}
	if content, err = compression.Unpack(packed); err != nil {
		return nil, "", &state.DecodeError{Name: name, Err: err}
	}
	return content, name, nil
}

// Remove removes the stack file, and keeps it as .bak if keep is true. The current variant goes last, so that no older
// variant becomes current.
func (f File) Remove(ctx context.Context, keep bool) error {
	current, _, err := f.Current(ctx)
	if err != nil {
		return err
	}
	present, err := f.Store.Stat(ctx, f.Keys.Variants()...)
	if err != nil {
		return err
	}
	slices.SortStableFunc(present, func(a, b store.Info) int {
		switch {
		case a.Key == current:
			return 1
		case b.Key == current:
			return -1
		}
		return 0
	})
	for _, i := range present {
		if keep {
			if err := f.keep(ctx, i.Key); err != nil {
				return err
			}
		}
		if err := f.Store.Remove(ctx, i.Key); err != nil {
			return err
		}
	}
	return nil
}

// keep keeps a variant of the stack file as its .bak.
func (f File) keep(ctx context.Context, key string) error {
	if err := store.Keep(ctx, f.Store, key, layout.Previous(key)); err != nil {
		return fmt.Errorf("keep the previous state of stack %s: %w", f.Stack, err)
	}
	return nil
}

// SetAside keeps a state that must not become the stack file (state.md 1.9).
func (f File) SetAside(ctx context.Context, checkpoint []byte) (where string, err error) {
	key := f.Keys.Rejected(fmt.Sprintf("%s.%d.json", f.Keys.Name, f.Now().UnixNano()))
	_, err = f.Store.Write(ctx, key, checkpoint, store.Condition{})
	return f.Store.Name(key), err
}

// Writer replaces the stack file, any number of times, as long as no other process does. It never overwrites the file
// of another process, whoever seems to hold the lock. It is for one goroutine at a time.
type Writer struct {
	file File
	last store.Info // the file when the writer was made, or after its last write
	kept bool       // the state before it has been kept
}

// Writer makes a writer of the stack file as it is now.
func (f File) Writer(ctx context.Context) (*Writer, error) {
	_, last, err := f.Current(ctx)
	return &Writer{file: f, last: last}, err
}

// Continue makes the writer go on with the work of another one: the .bak file already has the state before it.
func (w *Writer) Continue() { w.kept = true }

// Save is Replace for the record of a run: a state that cannot be written, because another process has written the file, is
// set aside.
func (w *Writer) Save(ctx context.Context, checkpoint []byte) error {
	err := w.Replace(ctx, checkpoint)
	if errors.Is(err, store.ErrConflict) {
		return w.file.refused(ctx, checkpoint, err)
	}
	return err
}

// Replace replaces the stack file. The first time it keeps the previous one as .bak. The error wraps [store.ErrConflict] if
// another process has written the file.
func (w *Writer) Replace(ctx context.Context, checkpoint []byte) error {
	f := w.file
	if !w.kept {
		if err := f.keepPrevious(ctx); err != nil {
			return err
		}
		w.kept = true
	}
	packed, err := f.Format.Pack(checkpoint)
	if err != nil {
		return err
	}
	target := f.Keys.File() + f.Format.Extension()
	condition := store.IfUnchanged(w.last)
	if w.last.Key != "" && w.last.Key != target {
		if condition, err = f.asItIs(ctx, target); err != nil {
			return err
		}
	}
	written, err := f.Store.Write(ctx, target, packed, condition)
	if errors.Is(err, store.ErrConflict) {
		return err
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", f.Store.Name(target), err)
	}
	w.last = written
	return f.replaced(ctx, target, packed)
}

// keepPrevious keeps every existing variant of the stack file as its .bak.
func (f File) keepPrevious(ctx context.Context) error {
	present, err := f.Store.Stat(ctx, f.Keys.Variants()...)
	for _, i := range present {
		err = errors.Join(err, store.Keep(ctx, f.Store, i.Key, layout.Previous(i.Key)))
	}
	if err != nil {
		return fmt.Errorf("keep the previous state of stack %s: %w", f.Stack, err)
	}
	return nil
}

// asItIs is the condition for a target that is a different variant than the present file.
func (f File) asItIs(ctx context.Context, target string) (store.Condition, error) {
	present, err := f.Store.Stat(ctx, target)
	if err != nil || len(present) == 0 {
		return store.IfAbsent(), err
	}
	return store.IfUnchanged(present[0]), nil
}

// refused sets aside a state that could not be written, because it is the only record of this run.
func (f File) refused(ctx context.Context, checkpoint []byte, err error) error {
	where, also := f.SetAside(ctx, checkpoint)
	if also != nil {
		return errors.Join(err, also)
	}
	return advice.Errorf(advice.On(advice.ImportState), "%w during this operation, which has the lock: somebody must have broken that. "+
		"It is left as it is, and the state of this run was set aside in %s", err, where)
}

// replaced removes the variants of the stack file with other compressions, and keeps a copy if copies are retained
// (state.md 4.5).
func (f File) replaced(ctx context.Context, target string, packed []byte) error {
	var others []string
	for _, key := range f.Keys.Variants() {
		if key != target {
			others = append(others, key)
		}
	}
	present, err := f.Store.Stat(ctx, others...)
	if err != nil {
		return err
	}
	for _, i := range present {
		if err := f.Store.Remove(ctx, i.Key); err != nil {
			return err
		}
	}
	if !f.Retain {
		return nil
	}
	retained := fmt.Sprintf("%s.%d", target, f.Now().UnixNano())
	_, err = f.Store.Write(ctx, retained, packed, store.Condition{})
	return err
}
