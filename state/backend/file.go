package backend

import (
	"context"
	"errors"

	"github.com/sourcegraph/conc/iter"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/state/backend/internal/location"
	"github.com/sluice-iac/sluice/state/secrets"
)

// File is a backend with one file for each stack, in a directory or any other [store.Store].
//
// Invariant: the stacks that it lists and opens have been recovered if that was possible.
type File struct {
	*storage
	reader   *reader
	recovery *recovery
}

var _ Backend = (*File)(nil)

// Open opens the backend that o.URL names. Nothing is written: a new store gets its meta.yaml with its first stack
// (state.md 4.3). Errors wrap [ErrScheme] for backends that cannot be used.
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
func (f *File) Passphrases() secrets.Source { return f.options.Passphrases }

// DefaultSecrets implements [Backend].
func (f *File) DefaultSecrets(Ref) secrets.Manager { return nil }

// Close implements [Backend].
func (f *File) Close() error { return f.store.Close() }

func (f *File) stack(ref Ref) *fileStack {
	return &fileStack{stackFiles: f.files(ref), reader: f.reader, hold: &hold{}}
}

// URL implements [Backend].
func (f *File) URL() string { return f.options.URL }

// Resolve implements [Backend].
func (f *File) Resolve(name string) (Ref, error) {
	return parseRef(name, f.options.Project, f.legacy, !f.options.isTrue("PULUMI_DISABLE_VALIDATION"))
}

// Stacks implements [Backend].
func (f *File) Stacks(ctx context.Context, filter Filter) ([]Listing, error) {
	if filter.Organization != "" && filter.Organization != f.Organization() {
		return nil, nil
	}
	if err := f.recovery.listed(ctx, filter.Project); err != nil {
		return nil, err
	}
	refs, err := f.refs(ctx, filter.Project)
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
			l.Summary, l.Err = f.summary(ctx, f.files(*ref))
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
		tags, err := tags{f.files(*ref)}.all(ctx)
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
	if err := f.recovery.opened(ctx, s.stackFiles); err != nil {
		return nil, err
	}
	return s, nil
}

// Init implements [Backend].
func (f *File) Init(ctx context.Context, ref Ref, m secrets.Manager) (Stack, error) {
	if f.legacy {
		return nil, ErrLegacy
	}
	if err := ref.check(false, !f.options.isTrue("PULUMI_DISABLE_VALIDATION")); err != nil {
		return nil, err
	}
	if err := f.prepareWrite(ctx); err != nil {
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

func (s *fileStack) create(ctx context.Context) error {
	if s.exists(ctx) == nil {
		return &ExistsError{s.ref.Name}
	}
	v := s.options.Version
	snapshot := &state.Snapshot{Manifest: state.Manifest{Time: s.options.Now(), Version: v, Magic: state.Magic(v)}}
	if s.secrets != nil {
		snapshot.SecretsProvider = s.secrets.Provider()
	}
	return s.Save(ctx, snapshot)
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
	return s, s.exists(ctx)
}
