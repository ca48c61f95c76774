package stackfile

import (
	"context"
	"errors"
	"fmt"

	"github.com/sluice-iac/sluice/advice"
	"github.com/sluice-iac/sluice/state/backend/internal/layout"
	"github.com/sluice-iac/sluice/state/store"
)

// Writer replaces the stack file, any number of times, as long as nobody else does: what somebody else has written
// meanwhile is never written over, whoever thinks to have the lock. It is for one goroutine at a time.
type Writer struct {
	file File
	last store.Info // what was there when the writer was made, or what it wrote last
	kept bool       // the state before it has been kept
}

// Writer makes a writer of the stack file as it is now.
func (f File) Writer(ctx context.Context) (*Writer, error) {
	_, last, err := f.Current(ctx)
	return &Writer{file: f, last: last}, err
}

// Continue says that the writer goes on with what another one has begun, so that the .bak file is already what was there before.
func (w *Writer) Continue() { w.kept = true }

// Save is Replace for the record of a run: what cannot be written, because somebody else has written the file, is set aside.
func (w *Writer) Save(ctx context.Context, checkpoint []byte) error {
	err := w.Replace(ctx, checkpoint)
	if errors.Is(err, store.ErrConflict) {
		return w.file.refused(ctx, checkpoint, err)
	}
	return err
}

// Replace replaces the stack file. The first time it keeps the one before as .bak. The error wraps [store.ErrConflict] if somebody
// else has written the file.
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

// keepPrevious keeps every variant of the stack file that there is as its .bak.
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

// asItIs is the condition for a target that is another variant than what was there so far.
func (f File) asItIs(ctx context.Context, target string) (store.Condition, error) {
	present, err := f.Store.Stat(ctx, target)
	if err != nil || len(present) == 0 {
		return store.IfAbsent(), err
	}
	return store.IfUnchanged(present[0]), nil
}

// refused keeps what could not be written, for it is the only record of what this run has done.
func (f File) refused(ctx context.Context, checkpoint []byte, err error) error {
	where, also := f.SetAside(ctx, checkpoint)
	if also != nil {
		return errors.Join(err, also)
	}
	return advice.Errorf(advice.On(advice.ImportState), "%w during this operation, which has the lock: somebody must have broken that. "+
		"It is left as it is, and what this run knows was set aside in %s", err, where)
}

// replaced removes the variants of the stack file with other compressions, and keeps a copy where that is wanted
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
