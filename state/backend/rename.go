package backend

import (
	"context"
	"errors"

	"github.com/sluice-iac/sluice/state"
)

// Rename implements [Backend].
func (f *File) Rename(ctx context.Context, from, to Ref) (Stack, error) {
	if f.legacy {
		return nil, ErrLegacy
	}
	if err := to.check(false, !f.options.isTrue("PULUMI_DISABLE_VALIDATION")); err != nil {
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

// rename moves a stack. project is the project in the URNs of its state. Both names are locked, so that no other process
// can take the new one.
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
	if _, there, err := to.file().Current(ctx); err != nil || there.Key != "" {
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
	if err := changeBoth(ctx, renaming, [2]change{{stack: to, after: content}, {stack: from, state: snapshot}}); err != nil {
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
