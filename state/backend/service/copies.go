package service

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/sluice-iac/sluice/state/backend"
	"github.com/sluice-iac/sluice/state/backend/internal/layout"
	"github.com/sluice-iac/sluice/state/store"
)

// copies are the working copies of the stacks of one organization: a file backend in the user's home directory.
type copies struct {
	files backend.Backend
	dir   *store.Dir
}

// workingCopy is the working copy of one stack.
type workingCopy struct {
	copies *copies
	keys   layout.Stack
}

func (c workingCopy) ref() backend.Ref {
	return backend.Ref{Project: c.keys.Project, Name: c.keys.Name}
}

// name is the name of the file, for people.
func (c workingCopy) name() string { return c.copies.dir.Name(c.keys.File()) }

// content returns the content of the working copy, nil if there is none.
func (c workingCopy) content(ctx context.Context) ([]byte, error) {
	b, _, err := c.copies.dir.Read(ctx, c.keys.File())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return b, err
}

// attempts is the number of times a working copy is made that another process removes at the same moment.
const attempts = 5

// open makes the working copy from the result of download, unless it exists, and returns it as a stack. It includes the
// records of an interrupted operation.
func (c workingCopy) open(ctx context.Context, download func() ([]byte, error)) (backend.Stack, error) {
	for attempt := 1; ; attempt++ {
		there, err := c.copies.dir.Stat(ctx, c.keys.File())
		if err == nil && len(there) == 0 {
			var content []byte
			if content, err = download(); err == nil {
				_, err = c.copies.dir.Write(ctx, c.keys.File(), content, store.IfAbsent())
			}
		}
		if err != nil && !errors.Is(err, store.ErrConflict) {
			return nil, err
		}
		s, err := c.copies.files.Open(ctx, c.ref())
		if errors.As(err, new(*backend.NotFoundError)) && attempt < attempts {
			continue
		}
		return s, err
	}
}

// replace replaces the content of the working copy. The caller has its lock.
func (c workingCopy) replace(ctx context.Context, content []byte) error {
	if now, err := c.content(ctx); err == nil && string(now) == string(content) {
		return nil
	}
	_, err := c.copies.dir.Write(ctx, c.keys.File(), content, store.Condition{})
	return err
}

// remove removes the working copy, the files that the file backend keeps beside it, and the temporary files of processes that were killed. The caller
// has its lock.
func (c workingCopy) remove(ctx context.Context) error {
	var all []string
	for _, prefix := range []string{c.keys.File(), c.keys.History() + "/", c.keys.Backups() + "/"} {
		infos, err := c.copies.dir.List(ctx, prefix)
		if err != nil {
			return err
		}
		for _, i := range infos {
			all = append(all, i.Key)
		}
	}
	return errors.Join(c.copies.dir.Remove(ctx, all...), c.copies.dir.Tidy(c.unsentKey(), shelterKey))
}

// unsent marks a working copy with changes that the service may not have.
type unsent struct {
	// Update is the operation that made the changes, "" for an edit.
	Update string `json:"update,omitempty"`
	// Version is the version of the stack before.
	Version int `json:"version"`
	// Sent is true if the service has everything, and only the end of the operation was not reported.
	Sent bool `json:"sent,omitempty"`
	// After is the stack, with its organization, whose working copy has to be sent before; "" is none.
	After string `json:"after,omitempty"`
}

func (c workingCopy) unsentKey() string {
	return strings.TrimSuffix(c.keys.Journal(), ".jnl") + ".unsent.json"
}

// unsent returns the mark of the working copy, nil if it has none.
func (c workingCopy) unsent(ctx context.Context) (*unsent, error) {
	b, _, err := c.copies.dir.Read(ctx, c.unsentKey())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	u := &unsent{}
	if err := json.Unmarshal(b, u); err != nil {
		return nil, fmt.Errorf("%s: %w", c.copies.dir.Name(c.unsentKey()), err)
	}
	return u, nil
}

// mark marks the working copy as not sent.
func (c workingCopy) mark(ctx context.Context, u unsent) error {
	b, err := json.Marshal(u)
	if err == nil {
		_, err = c.copies.dir.Write(ctx, c.unsentKey(), b, store.Condition{})
	}
	return err
}

// settled removes the mark: the service has everything.
func (c workingCopy) settled(ctx context.Context) error {
	return c.copies.dir.Remove(ctx, c.unsentKey())
}

// setAside moves the content of the working copy to a place that nothing uses, and returns the place.
func (c workingCopy) setAside(ctx context.Context, content []byte, at int64) (string, error) {
	key := c.keys.Salvage(fmt.Sprintf("%s.%d.unsent.json", c.keys.Name, at))
	_, err := c.copies.dir.Write(ctx, key, content, store.Condition{})
	return c.copies.dir.Name(key), err
}
