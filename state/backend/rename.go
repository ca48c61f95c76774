package backend

import (
	"context"
	"errors"
	"strings"

	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/state/store"
)

// Rename implements [Backend].
func (f *File) Rename(ctx context.Context, from, to Ref) (Stack, error) {
	if err := to.check(f.legacy, !f.isTrue("PULUMI_DISABLE_VALIDATION")); err != nil {
		return nil, err
	}
	if from == to {
		return nil, &ExistsError{to.Name}
	}
	if err := f.prepareWrite(ctx); err != nil {
		return nil, err
	}
	return f.rename(ctx, f.stack(from), f.stack(to), from.Project)
}

// rename moves a stack. project is that of the URNs in its state. Both names are locked: nobody else may take the new one.
func (f *File) rename(ctx context.Context, from, to *fileStack, project string) (s Stack, err error) {
	for _, stack := range []*fileStack{from, to} {
		l, held := stack.Lock(ctx, LockOptions{Operation: "stack rename"})
		if held != nil {
			return nil, held
		}
		defer func() { err = errors.Join(err, l.Close()) }()
	}
	if err := from.exists(ctx); err != nil {
		return nil, err
	}
	if _, there, err := to.current(ctx); err != nil || there.Key != "" {
		return nil, errors.Join(err, existsIf(there.Key != "", to.ref.Name))
	}
	snapshot, err := from.LoadSealed(ctx)
	if err != nil {
		return nil, err
	}
	if snapshot != nil {
		if snapshot, err = state.RenameStack(snapshot, from.ref.Name, project, to.ref.Name, to.ref.Project); err != nil {
			return nil, err
		}
	}
	content, err := to.encode(ctx, snapshot)
	if err != nil {
		return nil, err
	}
	p := &pair{stacks: [2]*fileStack{to, from}}
	if err := p.run(ctx, renaming, [2][]byte{content, nil}); err != nil {
		return nil, err
	}
	return to, nil
}

func existsIf(exists bool, name string) error {
	if exists {
		return &ExistsError{name}
	}
	return nil
}

// handOver gives the tags and the history of a stack to its new name. The .bak file and the backups stay (state.md 7.7). What
// was cut off is completed by doing it again.
func (s *fileStack) handOver(ctx context.Context, to *fileStack) error {
	keep := s.backend.store
	if err := store.Keep(ctx, keep, s.tags(), to.tags()); err != nil {
		return err
	}
	if err := keep.Remove(ctx, s.tags()); err != nil {
		return err
	}
	history, err := keep.List(ctx, s.historyFolder()+"/")
	if err != nil {
		return err
	}
	for _, i := range history {
		rest, ours := strings.CutPrefix(i.Key, s.historyFolder()+"/"+s.ref.Name+"-")
		if !ours {
			continue
		}
		if err := keep.Copy(ctx, i.Key, to.historyFolder()+"/"+to.ref.Name+"-"+rest); err != nil {
			return err
		}
		if err := keep.Remove(ctx, i.Key); err != nil {
			return err
		}
	}
	return nil
}
