package backend

import (
	"context"
	"errors"
	"fmt"

	"github.com/sourcegraph/conc/iter"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/state/backend/internal/layout"
	"github.com/sluice-iac/sluice/state/backend/internal/location"
	"github.com/sluice-iac/sluice/state/secrets"
	"github.com/sluice-iac/sluice/state/store"
)

// File is a backend with one file for each stack, in a directory or any other [store.Store].
//
// Invariant: the stacks that it lists and opens have been recovered if that was possible.
type File struct {
	storage  *storage
	reader   *reader
	recovery *recovery
}

var _ Backend = (*File)(nil)

// Open opens the backend that o.URL names. Nothing is written: a new store gets its meta.yaml with its first stack
// ([state.md 4.3]). Errors wrap [ErrScheme] for backends that cannot be used.
//
// [state.md 4.3]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/state.md#43-layout-versions
func Open(ctx context.Context, o Options) (Backend, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return openFile(ctx, o)
}

func openFile(ctx context.Context, o Options) (*File, error) {
	s, err := openStorage(ctx, o)
	if err != nil {
		return nil, err
	}
	r := &reader{storage: s}
	return &File{s, r, &recovery{storage: s, reader: r}}, nil
}

// MaskURL is a backend's URL without the credentials in it, for messages.
func MaskURL(text string) string { return location.Mask(text) }

// Organization implements [Catalog].
func (f *File) Organization() string { return Organization }

// Passphrases implements [Backend].
func (f *File) Passphrases() secrets.Source { return f.storage.options.Passphrases }

// DefaultSecrets implements [Backend].
func (f *File) DefaultSecrets(Ref) secrets.Manager { return nil }

// Close implements [Backend].
func (f *File) Close() error { return f.storage.store.Close() }

func (f *File) stack(ref Ref) *fileStack {
	return &fileStack{files: f.storage.files(ref), reader: f.reader, hold: &hold{}}
}

// URL implements [Backend].
func (f *File) URL() string { return f.storage.options.URL }

// Resolve implements [Backend].
func (f *File) Resolve(name string) (Ref, error) {
	return parseRef(name, f.storage.options.Project, f.storage.legacy, !f.storage.options.isTrue("PULUMI_DISABLE_VALIDATION"))
}

// Stacks implements [Backend].
func (f *File) Stacks(ctx context.Context, filter Filter) ([]Listing, error) {
	if filter.Organization != "" && filter.Organization != f.Organization() {
		return nil, nil
	}
	if err := f.recovery.listed(ctx, filter.Project); err != nil {
		return nil, err
	}
	refs, err := f.storage.refs(ctx, filter.Project)
	if err != nil {
		return nil, err
	}
	if filter.Tag != "" {
		if refs, err = f.tagged(ctx, refs, filter); err != nil {
			return nil, err
		}
	}
	listings := iter.Mapper[Ref, Listing]{MaxGoroutines: parallelReads}.Map(refs, func(ref *Ref) Listing {
		l := Listing{Ref: *ref}
		if l.Err = ctx.Err(); l.Err == nil {
			l.Summary, l.Err = f.summary(ctx, f.storage.files(*ref))
		}
		return l
	})
	return listings, ctx.Err()
}

// tagged returns the stacks with a tag. It reads nothing else of the others.
func (f *File) tagged(ctx context.Context, refs []Ref, filter Filter) ([]Ref, error) {
	type found struct {
		has bool
		err error
	}
	all := iter.Mapper[Ref, found]{MaxGoroutines: parallelReads}.Map(refs, func(ref *Ref) found {
		if ctx.Err() != nil {
			return found{err: ctx.Err()}
		}
		tags, err := tags{f.storage.files(*ref)}.all(ctx)
		value, has := tags[filter.Tag]
		return found{has && (filter.Value == "" || value == filter.Value), err}
	})
	var left []Ref
	for i, found := range all {
		if found.err != nil {
			return nil, found.err
		}
		if found.has {
			left = append(left, refs[i])
		}
	}
	return left, nil
}

func (f *File) summary(ctx context.Context, s stackFiles) (state.Summary, error) {
	in, err := f.reader.glance(ctx, s)
	if err != nil {
		return state.Summary{}, err
	}
	return s.summarise(ctx, in.content, in.name)
}

// Open implements [Backend].
func (f *File) Open(ctx context.Context, ref Ref) (Stack, error) {
	s := f.stack(ref)
	if err := f.recovery.opened(ctx, s.files); err != nil {
		return nil, err
	}
	return s, nil
}

// Init implements [Backend].
func (f *File) Init(ctx context.Context, ref Ref, m secrets.Manager) (Stack, error) {
	if f.storage.legacy {
		return nil, ErrLegacy
	}
	if err := ref.check(false, !f.storage.options.isTrue("PULUMI_DISABLE_VALIDATION")); err != nil {
		return nil, err
	}
	if err := f.storage.prepareWrite(ctx); err != nil {
		return nil, err
	}
	s := f.stack(ref)
	s.secrets = m
	unlock, err := s.Lock(ctx, LockOptions{Operation: "stack init"})
	if err != nil {
		return nil, err
	}
	err = s.create(ctx)
	if err = errors.Join(err, unlock.Close()); err != nil {
		return nil, err
	}
	return s, nil
}

// StackOutputs implements [Backend].
func (f *File) StackOutputs(ctx context.Context, name string) (property.Map, error) {
	return Referenced(f.referenced).Outputs(ctx, name)
}

// StackResources implements [Backend].
func (f *File) StackResources(ctx context.Context, name string) ([]*state.Resource, error) {
	return Referenced(f.referenced).Resources(ctx, name)
}

func (f *File) referenced(ctx context.Context, name string) (Stack, error) {
	ref, err := f.Resolve(name)
	if err != nil {
		return nil, err
	}
	s := f.stack(ref)
	return s, s.files.exists(ctx)
}

// Rename implements [Backend].
func (f *File) Rename(ctx context.Context, from, to Ref) (Stack, error) {
	if f.storage.legacy {
		return nil, ErrLegacy
	}
	if err := to.check(false, !f.storage.options.isTrue("PULUMI_DISABLE_VALIDATION")); err != nil {
		return nil, err
	}
	if from == to {
		return nil, &ExistsError{to.Name}
	}
	if err := f.storage.prepareWrite(ctx); err != nil {
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
	if err := from.files.exists(ctx); err != nil {
		return nil, err
	}
	if _, there, err := to.files.file().Current(ctx); err != nil || there.Key != "" {
		return nil, errors.Join(err, existsIf(there.Key != "", to.files.ref.Name))
	}
	snapshot, err := from.LoadSealed(ctx)
	if err != nil {
		return nil, err
	}
	if snapshot != nil {
		if snapshot, err = state.RenameStack(snapshot, from.files.ref.Name, project, to.files.ref.Name, to.files.ref.Project); err != nil {
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

// Upgrade implements [Backend]. The store is marked first: an interrupted Upgrade is completed by the next one.
func (f *File) Upgrade(ctx context.Context, ask func(stack string) (project string, err error)) ([]Upgraded, error) {
	if err := f.completeUpgrade(ctx); err != nil {
		return nil, err
	}
	old, err := f.storage.refsOf(ctx, true, "")
	if err != nil {
		return nil, err
	}
	all := make([]Upgraded, 0, len(old))
	for _, ref := range old {
		u := Upgraded{Name: ref.Name}
		if u.Project, u.Err = guessProject(ctx, f.storage.files(ref)); u.Err == nil && u.Project == "" && ask != nil {
			if u.Project, err = ask(ref.Name); err != nil {
				return nil, err
			}
		}
		all = append(all, u)
	}
	if _, err := f.storage.store.Write(ctx, layout.Meta(), []byte("version: 1\n"), store.Condition{}); err != nil {
		return nil, err
	}
	f.storage.legacy = false
	for i, u := range all {
		if u.Err != nil || u.Project == "" {
			continue
		}
		to := Ref{Project: u.Project, Name: u.Name}
		if all[i].Err = to.check(false, !f.storage.options.isTrue("PULUMI_DISABLE_VALIDATION")); all[i].Err == nil {
			_, all[i].Err = f.rename(ctx, f.stack(Ref{Name: u.Name}), f.stack(to), u.Project)
		}
	}
	return all, nil
}

// completeUpgrade completes an interrupted upgrade of a stack.
func (f *File) completeUpgrade(ctx context.Context) error {
	if f.storage.legacy {
		return nil
	}
	intents, err := f.storage.intents(ctx)
	for _, p := range intents {
		if s := p.stacks[1]; s.ref.Project == "" {
			f.recovery.ifFree(ctx, s, stackIntents{s}.exist)
		}
	}
	return err
}

// Remove implements [Backend]. A stack whose file cannot be read is removed only with Force.
func (f *File) Remove(ctx context.Context, ref Ref, o RemoveOptions) error {
	s := f.storage.files(ref)
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
	if err := removeFolder(ctx, s.storage.store, s.keys().History()); err != nil {
		return err
	}
	gone := append(s.sides(), s.keys().Tags())
	if o.Backups {
		if err := removeFolder(ctx, s.storage.store, s.keys().Backups()); err != nil {
			return err
		}
		gone = append(gone, s.keys().Previous()...)
	}
	if err := s.storage.store.Remove(ctx, gone...); err != nil {
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

// guessProject returns the project in the URNs of a state.
func guessProject(ctx context.Context, s stackFiles) (string, error) {
	b, name, err := s.read(ctx)
	if err != nil {
		return "", err
	}
	c, err := state.DecodeCheckpoint(ctx, b, state.DecodeOptions{Name: name})
	if err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	if c.Latest != nil {
		for _, r := range c.Latest.Resources {
			return r.URN.Project(), nil
		}
	}
	return "", nil
}
