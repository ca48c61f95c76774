package backend

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"github.com/sluice-iac/sluice/state/store"
)

// tags are the tags of a stack (state.md 7.9).
//
// Invariant: an edit changes the present tags, and loses no concurrent edit.
type tags struct{ files stackFiles }

// tagsFile is the content of the file with the tags of a stack (state.md 7.9).
type tagsFile struct {
	Version int               `json:"version"`
	Tags    map[string]string `json:"tags"`
}

// all returns the tags of the stack.
func (t tags) all(ctx context.Context) (map[string]string, error) {
	all, _, err := t.readFile(ctx)
	return all, err
}

func (t tags) readFile(ctx context.Context) (map[string]string, store.Info, error) {
	b, info, err := t.files.storage.store.Read(ctx, t.files.keys().Tags())
	if errors.Is(err, fs.ErrNotExist) {
		return map[string]string{}, store.Info{}, nil
	}
	if err != nil {
		return nil, info, err
	}
	f := tagsFile{Tags: map[string]string{}}
	if err := json.Unmarshal(b, &f); err != nil {
		return nil, info, fmt.Errorf("%s cannot be read: %w; put it right, or remove it: then the stack has no tags",
			t.files.storage.store.Name(t.files.keys().Tags()), err)
	}
	if f.Version != 1 {
		return nil, info, fmt.Errorf("%s: version %d of the tags is not one that this version of sluice understands; use a newer one",
			t.files.storage.store.Name(t.files.keys().Tags()), f.Version)
	}
	if f.Tags == nil {
		f.Tags = map[string]string{}
	}
	return f.Tags, info, nil
}

// edit changes the tags. Tags have no lock: if another process has written them meanwhile, they are read again. The file stays
// when the last tag goes, as a removal has no condition.
func (t tags) edit(ctx context.Context, change func(tags map[string]string)) error {
	if err := t.files.storage.prepareWrite(ctx); err != nil {
		return err
	}
	for {
		all, info, err := t.readFile(ctx)
		if err != nil {
			return err
		}
		change(all)
		if len(all) == 0 && info.Key == "" {
			return nil
		}
		b, err := json.Marshal(tagsFile{1, all})
		if err != nil {
			return err
		}
		_, err = t.files.storage.store.Write(ctx, t.files.keys().Tags(), b, store.IfUnchanged(info))
		if !errors.Is(err, store.ErrConflict) {
			return err
		}
	}
}

// moveTo moves the tags to another name of the stack. What else is beside the state is about resources with the old names. If it was interrupted,
// a second call completes it.
func (t tags) moveTo(ctx context.Context, to stackFiles) error {
	if err := store.Keep(ctx, t.files.storage.store, t.files.keys().Tags(), to.keys().Tags()); err != nil {
		return err
	}
	return t.files.storage.store.Remove(ctx, append(t.files.sides(), t.files.keys().Tags())...)
}
