package stackfile

import (
	"context"
	"fmt"
	"slices"
	"time"

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
