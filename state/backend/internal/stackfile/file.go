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
	if newest = latest(present); newest.Key == "" {
		return f.target(), newest, nil
	}
	return newest.Key, newest, nil
}

// latest returns the variant that is the stack file, an empty description if there is none. present is in key order.
func latest(present []store.Info) (newest store.Info) {
	for _, i := range present {
		if newest.Key == "" || !i.Modified.Before(newest.Modified) {
			newest = i
		}
	}
	return newest
}

// target is the key of the files that it writes.
func (f File) target() string { return f.Keys.File() + f.Format.Extension() }

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

// Writer replaces the stack file, any number of times, as long as no other process does. It neither overwrites nor removes
// a file of another process, whichever variant that is and whoever seems to hold the lock. It is for one goroutine at a time.
type Writer struct {
	file File
	last string // the key of the stack file when the writer was made, or after its last write; "" if there was none
	// known are the variants that existed when the writer was made, and that it has not removed, as they were then or after
	// its last write.
	known map[string]store.Info
	kept  bool // the state before it has been kept
}

// Writer makes a writer of the stack file as it is now.
func (f File) Writer(ctx context.Context) (*Writer, error) {
	present, err := f.Store.Stat(ctx, f.Keys.Variants()...)
	if err != nil {
		return nil, err
	}
	w := &Writer{file: f, last: latest(present).Key, known: map[string]store.Info{}}
	for _, i := range present {
		w.known[i.Key] = i
	}
	return w, nil
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

// Replace replaces the stack file, and removes its variants with other compressions (state.md 4.5). The first time it keeps
// the previous one as .bak. The error wraps [store.ErrConflict] if another process has written a variant, or has removed the
// stack file.
func (w *Writer) Replace(ctx context.Context, checkpoint []byte) error {
	f, target := w.file, w.file.target()
	present, err := f.Store.Stat(ctx, f.Keys.Variants()...)
	if err != nil {
		return err
	}
	if err := w.check(present); err != nil {
		return err
	}
	if !w.kept {
		if err := f.keepAll(ctx, present); err != nil {
			return err
		}
		w.kept = true
	}
	packed, err := f.Format.Pack(checkpoint)
	if err != nil {
		return err
	}
	written, err := f.Store.Write(ctx, target, packed, store.IfUnchanged(w.known[target]))
	if errors.Is(err, store.ErrConflict) {
		return err
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", f.Store.Name(target), err)
	}
	w.last, w.known[target] = target, written
	if err := w.removeOthers(ctx); err != nil {
		return err
	}
	return f.retain(ctx, packed)
}

// check returns an error that wraps [store.ErrConflict] if another process has changed a variant. The target is left to the
// condition of its write: only the store knows whether an earlier write of this process has arrived although it failed.
func (w *Writer) check(present []store.Info) error {
	target, found := w.file.target(), false
	for _, i := range present {
		found = found || i.Key == w.last
		was, known := w.known[i.Key]
		if i.Key != target && (!known || was.Revision != i.Revision) {
			return store.Conflict(w.file.Store.Name(i.Key))
		}
	}
	if !found && w.last != "" && w.last != target {
		return store.Conflict(w.file.Store.Name(w.last))
	}
	return nil
}

// removeOthers removes the variants that the written one replaces. One that another process has written since [Writer.check]
// stays.
func (w *Writer) removeOthers(ctx context.Context) error {
	var others []string
	for _, key := range w.file.Keys.Variants() {
		if _, known := w.known[key]; known && key != w.last {
			others = append(others, key)
		}
	}
	if len(others) == 0 {
		return nil
	}
	present, err := w.file.Store.Stat(ctx, others...)
	if err != nil {
		return err
	}
	if err := w.check(present); err != nil {
		return err
	}
	if err := w.file.Store.Remove(ctx, others...); err != nil {
		return err
	}
	for _, key := range others {
		delete(w.known, key)
	}
	return nil
}

// keepAll keeps variants of the stack file as their .bak.
func (f File) keepAll(ctx context.Context, present []store.Info) error {
	for _, i := range present {
		if err := f.keep(ctx, i.Key); err != nil {
			return err
		}
	}
	return nil
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

// retain keeps a copy of a version, if copies are retained (state.md 4.5).
func (f File) retain(ctx context.Context, packed []byte) error {
	if !f.Retain {
		return nil
	}
	_, err := f.Store.Write(ctx, fmt.Sprintf("%s.%d", f.target(), f.Now().UnixNano()), packed, store.Condition{})
	return err
}
