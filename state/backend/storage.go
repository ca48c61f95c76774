package backend

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/sluice-iac/sluice/state/backend/internal/compression"
	"github.com/sluice-iac/sluice/state/backend/internal/layout"
	"github.com/sluice-iac/sluice/state/backend/internal/location"
	"github.com/sluice-iac/sluice/state/store"
)

// storage is the store of a backend, with its layout and options.
//
// Invariant: no stack is added to a store of the old layout, and a new one is marked before its first stack is written.
type storage struct {
	options Options
	store   store.Store
	legacy  bool // the layout without projects
	format  compression.Format
	// every and lost are the intervals for renewing leases, as in [lock.Options].
	every, lost time.Duration
	// unmarked are the locks, by [Ref], that this process has given up without being able to say so in their files.
	unmarked sync.Map
}

func openStorage(ctx context.Context, o Options) (*storage, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	opened, err := location.Open(ctx, o.URL, o.Environment, o.Stores)
	if err != nil {
		return nil, err
	}
	s := &storage{options: o, store: opened}
	if s.format, err = o.compression(); err == nil {
		s.legacy, err = s.readMode(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, opened.Close())
	}
	return s, nil
}

// readMode reports whether the store has the layout without projects.
func (s *storage) readMode(ctx context.Context) (legacy bool, err error) {
	key := layout.Meta()
	b, _, err := s.store.Read(ctx, key)
	if errors.Is(err, fs.ErrNotExist) {
		if s.options.flag("LEGACY_LAYOUT") {
			return true, nil
		}
		old, err := s.refsOf(ctx, true, "")
		return len(old) > 0, err
	}
	if err != nil {
		return false, err
	}
	var meta struct {
		Version *int `yaml:"version"`
	}
	const remedy = "; write \"version: 1\" into it, or \"version: 0\" if the stacks are not in folders with the names of their projects"
	name := s.store.Name(key)
	if err := yaml.Unmarshal(b, &meta); err != nil {
		return false, fmt.Errorf("corrupt store: %s: %w%s", name, err, remedy)
	}
	if meta.Version == nil {
		return false, fmt.Errorf("corrupt store: missing version in %s%s", name, remedy)
	}
	switch *meta.Version {
	case 0:
		return true, nil
	case 1:
		return false, nil
	}
	return false, fmt.Errorf("%s: version %d of the store is not one that this version of sluice understands; use a newer one",
		name, *meta.Version)
}

// prepareWrite marks a new store. A store of the old layout stays as it is.
func (s *storage) prepareWrite(ctx context.Context) error {
	if s.legacy {
		return nil
	}
	meta := layout.Meta()
	if present, err := s.store.Stat(ctx, meta); err != nil || len(present) > 0 {
		return err
	}
	_, err := s.store.Write(ctx, meta, []byte("version: 1\n"), store.IfAbsent())
	if errors.Is(err, store.ErrConflict) {
		return nil // another process was first
	}
	return err
}

// refs lists the stacks of a project, of all projects if it is "", in the order of project and name.
func (s *storage) refs(ctx context.Context, project string) ([]Ref, error) {
	return s.refsOf(ctx, s.legacy, project)
}

func (s *storage) refsOf(ctx context.Context, legacy bool, project string) ([]Ref, error) {
	if legacy {
		project = ""
	}
	infos, err := s.store.List(ctx, layout.Stacks(project))
	if err != nil {
		return nil, fmt.Errorf("list the stacks: %w", err)
	}
	var refs []Ref
	for _, i := range infos {
		if keys, is := layout.StackOf(i.Key, legacy); is {
			refs = append(refs, refOf(keys))
		}
	}
	slices.SortFunc(refs, func(a, b Ref) int {
		return cmp.Or(strings.Compare(a.Project, b.Project), strings.Compare(a.Name, b.Name))
	})
	return slices.Compact(refs), nil
}

// intents lists the intents that have not ended.
func (s *storage) intents(ctx context.Context) ([]*intent, error) {
	infos, err := s.store.List(ctx, layout.Intents())
	if err != nil {
		return nil, fmt.Errorf("look for interrupted operations: %w", err)
	}
	var all []*intent
	for _, i := range infos {
		if keys, is := layout.IntentOf(i.Key); is {
			all = append(all, &intent{stacks: [2]stackFiles{s.files(refOf(keys[0])), s.files(refOf(keys[1]))}})
		}
	}
	return all, nil
}

func (s *storage) files(ref Ref) stackFiles { return stackFiles{s, ref} }

// parallelReads is the number of stacks that a list reads at once (state.md 7.4).
const parallelReads = 10
