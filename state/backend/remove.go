package backend

import (
	"context"
	"errors"

	"github.com/sluice-iac/sluice/state/store"
)

// Remove implements [Backend]. A stack whose file cannot be read is removed only with Force.
func (f *File) Remove(ctx context.Context, ref Ref, o RemoveOptions) error {
	s := f.files(ref)
	if err := s.exists(ctx); err != nil {
		return err
	}
	l, err := s.lock(ctx, LockOptions{Operation: "stack rm"})
	if err != nil {
		return err
	}
	if err = recoverBeforeRemoval(ctx, s, o); err == nil {
		err = s.exists(ctx) // an interrupted rename may have been completed
	}
	if err == nil {
		err = remove(ctx, s, o)
	}
	return errors.Join(err, l.Release())
}

// recoverBeforeRemoval recovers the stack. With Force its journal is removed instead, but an operation that also
// concerns another stack is completed, or set aside if it needs a decision.
func recoverBeforeRemoval(ctx context.Context, s stackFiles, o RemoveOptions) error {
	if !o.Force {
		return remains{s}.recover(ctx)
	}
	intents := stackIntents{s}
	err := intents.recover(ctx)
	var undecided *JournalError
	if errors.As(err, &undecided) {
		_, err = intents.setAside(ctx)
	}
	return err
}

func remove(ctx context.Context, s stackFiles, o RemoveOptions) error {
	if !o.Force {
		summary, err := s.summary(ctx)
		if err != nil {
			return err
		}
		if summary.Resources > 1 || summary.Resources == 1 && !summary.OnlyRoot {
			return &NotEmptyError{s.ref.Name, summary.Resources}
		}
	}
	// As long as there is a stack file, an interrupted removal can be repeated.
	if err := removeFolder(ctx, s.store, s.keys().History()); err != nil {
		return err
	}
	gone := []string{s.keys().Tags()}
	if o.Backups {
		if err := removeFolder(ctx, s.store, s.keys().Backups()); err != nil {
			return err
		}
		gone = append(gone, s.keys().Previous()...)
	}
	if err := s.store.Remove(ctx, gone...); err != nil {
		return err
	}
	if err := s.file().Remove(ctx, !o.Backups); err != nil {
		return err
	}
	_, err := s.journal().setAllAside(ctx)
	return err
}

func removeFolder(ctx context.Context, from store.Store, folder string) error {
	infos, err := from.List(ctx, folder+"/")
	if err != nil {
		return err
	}
	keys := make([]string, len(infos))
	for i, info := range infos {
		keys[i] = info.Key
	}
	return from.Remove(ctx, keys...)
}
