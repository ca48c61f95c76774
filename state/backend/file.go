package backend

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sourcegraph/conc/iter"
	"gopkg.in/yaml.v3"

	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/state/secrets"
	"github.com/sluice-iac/sluice/state/store"
)

// Options say how a backend is opened.
type Options struct {
	// URL names the backend (state.md 4.2).
	URL string
	// Project is the current project, to which bare stack names belong; "" when there is none.
	Project string
	// Environment looks variables up, as [os.LookupEnv] does; nil means that none is set. See state.md appendix A.
	Environment func(name string) (string, bool)
	// Passphrases opens the secrets in states.
	Passphrases secrets.Source
	// Version names this tool in manifests, for example "sluice/0.1.0".
	Version string
	// SkipIntegrity loads states that fail the integrity check (--disable-integrity-checking).
	SkipIntegrity bool
	// Now is the clock; nil means [time.Now].
	Now func() time.Time
	// Stores opens what URLs of other schemes than file name, by scheme.
	Stores map[string]store.Opener
	// Checkpoints says how often a run writes the stack file.
	Checkpoints Cadence
	// Note is told, in one line, what was found of an operation that was cut off; nil when nobody listens.
	Note func(text string)
	// Undecided is told of a journal that nobody may apply without a decision, when a stack is opened. Whoever locks the stack
	// gets the same error. Nil means Note.
	Undecided func(*JournalError)
	// Renamed is told that a stack has another name, by whoever renamed it or has completed a rename that was cut off, so that
	// what names the stack outside the backend can follow. It may be told so again. remark is for the user, who has something
	// to do; it may be "". The stack is renamed whatever is returned. nil when nobody listens.
	Renamed func(from, to Ref) (remark string, err error)
}

// Cadence says how often a run writes the whole stack file (state.md 9.5). What it has recorded is durable in any case.
type Cadence string

const (
	// CheckpointsTimed writes from time to time and at the end.
	CheckpointsTimed Cadence = ""
	// CheckpointsEveryStep writes before and after every step, as Pulumi does, and keeps no journal.
	CheckpointsEveryStep Cadence = "every-step"
	// CheckpointsAtEnd writes at the end.
	CheckpointsAtEnd Cadence = "end"
)

// File is a backend that keeps a file for each stack, in a directory or whatever else a [store.Store] is.
type File struct {
	options     Options
	store       store.Store
	legacy      bool
	compression compression
	// unrecovered are the stacks, by [Ref], whose journals this process could not recover when it opened them. Only who
	// takes the lock tries again: there may be many who only read.
	unrecovered sync.Map
	// every and lost say how leases are renewed, as in [lock.Options].
	every, lost time.Duration
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
	if o.Now == nil {
		o.Now = time.Now
	}
	s, err := o.openStore(ctx)
	if err != nil {
		return nil, err
	}
	f := &File{options: o, store: s}
	if f.compression, err = f.chosenCompression(); err == nil {
		f.legacy, err = f.readMode(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return f, nil
}

// Close implements [Backend].
func (f *File) Close() error { return f.store.Close() }

func (f *File) chosenCompression() (compression, error) {
	gz, zst := f.flag("GZIP"), f.flag("ZSTD")
	switch {
	case gz && zst:
		return plain, errors.New("PULUMI_DIY_BACKEND_GZIP and PULUMI_DIY_BACKEND_ZSTD are both set; unset one of them")
	case gz:
		return gzipped, nil
	case zst:
		return zstandard, nil
	}
	return plain, nil
}

// flag reads a boolean variable of the backend under its present and its former name.
func (f *File) flag(name string) bool {
	return f.isTrue("PULUMI_DIY_BACKEND_"+name) || f.isTrue("PULUMI_SELF_MANAGED_STATE_"+name)
}

func (f *File) isTrue(variable string) bool {
	if f.options.Environment == nil {
		return false
	}
	v, _ := f.options.Environment(variable)
	return v == "1" || strings.EqualFold(v, "true")
}

// key returns the key of something below .pulumi.
func (f *File) key(parts ...string) string {
	return path.Join(append([]string{".pulumi"}, parts...)...)
}

// readMode tells whether the store has the layout without projects.
func (f *File) readMode(ctx context.Context) (legacy bool, err error) {
	key := f.key("meta.yaml")
	b, _, err := f.store.Read(ctx, key)
	if errors.Is(err, fs.ErrNotExist) {
		if f.flag("LEGACY_LAYOUT") {
			return true, nil
		}
		old, err := f.refsOf(ctx, true, "")
		return len(old) > 0, err
	}
	if err != nil {
		return false, err
	}
	var meta struct {
		Version *int `yaml:"version"`
	}
	name := f.store.Name(key)
	if err := yaml.Unmarshal(b, &meta); err != nil {
		return false, fmt.Errorf("corrupt store: %s: %w", name, err)
	}
	if meta.Version == nil {
		return false, fmt.Errorf("corrupt store: missing version in %s", name)
	}
	switch *meta.Version {
	case 0:
		return true, nil
	case 1:
		return false, nil
	}
	return false, fmt.Errorf("%s: version %d of the store is newer than what this version of sluice understands",
		name, *meta.Version)
}

// prepareWrite refuses writes to an old layout and marks a new store as what it is.
func (f *File) prepareWrite(ctx context.Context) error {
	if f.legacy {
		return ErrLegacy
	}
	meta := f.key("meta.yaml")
	if present, err := f.store.Stat(ctx, meta); err != nil || len(present) > 0 {
		return err
	}
	_, err := f.store.Write(ctx, meta, []byte("version: 1\n"), store.IfAbsent())
	if errors.Is(err, store.ErrConflict) {
		return nil // another process was first
	}
	return err
}

// URL implements [Backend].
func (f *File) URL() string { return f.options.URL }

// Resolve implements [Backend].
func (f *File) Resolve(name string) (Ref, error) {
	return parseRef(name, f.options.Project, f.legacy, !f.isTrue("PULUMI_DISABLE_VALIDATION"))
}

// stackName is the name of the stack whose file has this base name.
func stackName(file string) (name string, is bool) {
	name = strings.TrimSuffix(strings.TrimSuffix(file, ".gz"), ".zst")
	ext := path.Ext(name)
	name = strings.TrimSuffix(name, ext)
	return name, (ext == ".json" || ext == ".yaml" || ext == ".yml") && checkName("stack", name, true) == nil
}

// refs lists the stacks of a project, of all projects if it is "", in the order of project and name.
func (f *File) refs(ctx context.Context, project string) ([]Ref, error) {
	return f.refsOf(ctx, f.legacy, project)
}

func (f *File) refsOf(ctx context.Context, legacy bool, project string) ([]Ref, error) {
	prefix := f.key("stacks") + "/"
	if !legacy && project != "" {
		prefix += project + "/"
	}
	infos, err := f.store.List(ctx, prefix)
	if err != nil {
		return nil, fmt.Errorf("list the stacks: %w", err)
	}
	var refs []Ref
	for _, i := range infos {
		folder, file := path.Split(strings.TrimPrefix(i.Key, f.key("stacks")+"/"))
		folder = strings.TrimSuffix(folder, "/")
		name, is := stackName(file)
		if is && (legacy && folder == "" || !legacy && checkName("project", folder, true) == nil) {
			refs = append(refs, Ref{folder, name})
		}
	}
	slices.SortFunc(refs, func(a, b Ref) int {
		return cmp.Or(strings.Compare(a.Project, b.Project), strings.Compare(a.Name, b.Name))
	})
	return slices.Compact(refs), nil
}

// parallelReads is how many stack files are read at once for a list (state.md 7.4).
const parallelReads = 10

// Stacks implements [Backend].
func (f *File) Stacks(ctx context.Context, project string) ([]Listing, error) {
	if err := f.recoverListed(ctx, project); err != nil {
		return nil, err
	}
	refs, err := f.refs(ctx, project)
	if err != nil {
		return nil, err
	}
	listings := iter.Mapper[Ref, Listing]{MaxGoroutines: parallelReads}.Map(refs, func(ref *Ref) Listing {
		l := Listing{Ref: *ref}
		if l.Err = ctx.Err(); l.Err == nil {
			l.Summary, l.Err = f.stack(*ref).summary(ctx)
		}
		return l
	})
	return listings, ctx.Err()
}

// Open implements [Backend].
func (f *File) Open(ctx context.Context, ref Ref) (Stack, error) {
	s := f.stack(ref)
	s.recoverIfFree(ctx, s.isPaired) // which may be what makes the stack, or removes it
	if err := s.exists(ctx); err != nil {
		return nil, err
	}
	s.recoverIfFree(ctx, s.journal().Exists)
	return s, nil
}

// Init implements [Backend].
func (f *File) Init(ctx context.Context, ref Ref, m secrets.Manager) (Stack, error) {
	if f.legacy {
		return nil, ErrLegacy
	}
	if err := ref.check(false, !f.isTrue("PULUMI_DISABLE_VALIDATION")); err != nil {
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
	v := s.backend.options.Version
	snapshot := &state.Snapshot{Manifest: state.Manifest{Time: s.backend.options.Now(), Version: v, Magic: state.Magic(v)}}
	if s.secrets != nil {
		snapshot.SecretsProvider = s.secrets.Provider()
	}
	return s.Save(ctx, snapshot)
}

// Remove implements [Backend]. A stack whose file cannot be read is removed only with Force.
func (f *File) Remove(ctx context.Context, ref Ref, o RemoveOptions) error {
	if f.legacy {
		return ErrLegacy
	}
	s := f.stack(ref)
	if err := s.exists(ctx); err != nil {
		return err
	}
	l, err := s.lock(ctx, LockOptions{Operation: "stack rm"})
	if err != nil {
		return err
	}
	if err = s.recoverBeforeRemoval(ctx, o); err == nil {
		err = s.exists(ctx) // a rename that was cut off may have been completed
	}
	if err == nil {
		err = s.remove(ctx, o)
	}
	return errors.Join(err, l.Release())
}

// recoverBeforeRemoval recovers the stack. With Force its journal will go with it, but what another stack is part of is
// completed, or put aside if that may not be done.
func (s *fileStack) recoverBeforeRemoval(ctx context.Context, o RemoveOptions) error {
	if !o.Force {
		return s.recover(ctx)
	}
	err := s.recoverPairs(ctx)
	var undecided *JournalError
	if errors.As(err, &undecided) {
		_, err = s.discardPairs(ctx)
	}
	return err
}

func (s *fileStack) remove(ctx context.Context, o RemoveOptions) error {
	if !o.Force {
		summary, err := s.summary(ctx)
		if err != nil {
			return err
		}
		if summary.Resources > 1 || summary.Resources == 1 && !summary.OnlyRoot {
			return &NotEmptyError{s.ref.Name, summary.Resources}
		}
	}
	// As long as there is a stack file, a removal that was cut off can be repeated.
	if err := s.removeFolder(ctx, s.historyFolder()); err != nil {
		return err
	}
	gone := []string{s.tags()}
	if o.Backups {
		if err := s.removeFolder(ctx, s.backupFolder()); err != nil {
			return err
		}
		for _, key := range s.variants() {
			gone = append(gone, key+".bak")
		}
	}
	if err := s.backend.store.Remove(ctx, gone...); err != nil {
		return err
	}
	if err := s.removeFile(ctx, !o.Backups); err != nil {
		return err
	}
	_, err := s.discard(ctx)
	return err
}

func (s *fileStack) removeFolder(ctx context.Context, folder string) error {
	infos, err := s.backend.store.List(ctx, folder+"/")
	if err != nil {
		return err
	}
	keys := make([]string, len(infos))
	for i, info := range infos {
		keys[i] = info.Key
	}
	return s.backend.store.Remove(ctx, keys...)
}
