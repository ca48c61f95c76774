package backend

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"github.com/sluice-iac/sluice/state/store"
)

// tagsFile is the content of the file with the tags of a stack (state.md 7.9).
type tagsFile struct {
	Version int               `json:"version"`
	Tags    map[string]string `json:"tags"`
}

// Tags implements [Stack].
func (s *fileStack) Tags(ctx context.Context) (map[string]string, error) {
	tags, _, err := s.readTags(ctx)
	return tags, err
}

func (s *fileStack) readTags(ctx context.Context) (map[string]string, store.Info, error) {
	b, info, err := s.backend.store.Read(ctx, s.tags())
	if errors.Is(err, fs.ErrNotExist) {
		return map[string]string{}, store.Info{}, nil
	}
	if err != nil {
		return nil, info, err
	}
	f := tagsFile{Tags: map[string]string{}}
	if err := json.Unmarshal(b, &f); err != nil {
		return nil, info, fmt.Errorf("%s: %w", s.backend.store.Name(s.tags()), err)
	}
	if f.Version != 1 {
		return nil, info, fmt.Errorf("%s: version %d of the tags is not one that this version of sluice understands",
			s.backend.store.Name(s.tags()), f.Version)
	}
	if f.Tags == nil {
		f.Tags = map[string]string{}
	}
	return f.Tags, info, nil
}

// EditTags implements [Stack]. Tags have no lock: when somebody else has written them meanwhile, they are read again.
func (s *fileStack) EditTags(ctx context.Context, edit func(tags map[string]string)) error {
	if err := s.backend.prepareWrite(ctx); err != nil {
		return err
	}
	for {
		tags, info, err := s.readTags(ctx)
		if err != nil {
			return err
		}
		edit(tags)
		if len(tags) == 0 {
			return s.backend.store.Remove(ctx, s.tags())
		}
		b, err := json.Marshal(tagsFile{1, tags})
		if err != nil {
			return err
		}
		_, err = s.backend.store.Write(ctx, s.tags(), b, store.IfUnchanged(info))
		if !errors.Is(err, store.ErrConflict) {
			return err
		}
	}
}
