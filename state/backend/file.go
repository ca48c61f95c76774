package backend

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/sourcegraph/conc/iter"
	"gopkg.in/yaml.v3"

	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/state/secrets"
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
	// Checkpoints says how often a run writes the stack file.
	Checkpoints Cadence
	// Note is told, in one line, what was found of an operation that was cut off; nil when nobody listens.
	Note func(text string)
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

// File is a backend in a directory.
type File struct {
	options     Options
	dir         string // holds .pulumi
	legacy      bool
	compression compression
	writer      writer
}

var _ Backend = (*File)(nil)

// Open opens the backend that o.URL names. Nothing is written: a new store gets its meta.yaml with its first stack
// (state.md 4.3). Errors wrap [ErrScheme] for backends that cannot be used.
func Open(ctx context.Context, o Options) (Backend, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return openFile(o)
}

func openFile(o Options) (*File, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	home, homeErr := os.UserHomeDir()
	if homeErr != nil && strings.HasPrefix(o.URL, "file://~") {
		return nil, fmt.Errorf("backend URL %q: %w", o.URL, homeErr)
	}
	work, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	l, err := parseURL(o.URL, home, work)
	if err != nil {
		return nil, err
	}
	if err := l.open(); err != nil {
		return nil, err
	}
	f := &File{options: o, dir: l.dir}
	if f.compression, err = f.chosenCompression(); err != nil {
		return nil, err
	}
	f.legacy, err = f.readMode()
	return f, err
}

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

func (f *File) path(parts ...string) string {
	return filepath.Join(append([]string{f.dir, ".pulumi"}, parts...)...)
}

// readMode tells whether the store has the layout without projects.
func (f *File) readMode() (legacy bool, err error) {
	path := f.path("meta.yaml")
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return f.flag("LEGACY_LAYOUT") || len(f.stackNames(f.path("stacks"))) > 0, nil
	}
	if err != nil {
		return false, err
	}
	var meta struct {
		Version *int `yaml:"version"`
	}
	if err := yaml.Unmarshal(b, &meta); err != nil {
		return false, fmt.Errorf("corrupt store: %s: %w", path, err)
	}
	if meta.Version == nil {
		return false, fmt.Errorf("corrupt store: missing version in %s", path)
	}
	switch *meta.Version {
	case 0:
		return true, nil
	case 1:
		return false, nil
	}
	return false, fmt.Errorf("%s: version %d of the store is newer than what this version of sluice understands",
		path, *meta.Version)
}

// prepareWrite refuses writes to an old layout and marks a new store as what it is.
func (f *File) prepareWrite() error {
	if f.legacy {
		return ErrLegacy
	}
	if _, err := os.Stat(f.path("meta.yaml")); err == nil || !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return f.writer.replace(f.path("meta.yaml"), []byte("version: 1\n"))
}

// URL implements [Backend].
func (f *File) URL() string { return f.options.URL }

// Resolve implements [Backend].
func (f *File) Resolve(name string) (Ref, error) {
	return parseRef(name, f.options.Project, f.legacy, !f.isTrue("PULUMI_DISABLE_VALIDATION"))
}

// stackNames returns the names of the stack files directly in a directory, sorted.
func (f *File) stackNames(dir string) []string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var names []string
	for _, e := range entries {
		if e.IsDir() {
			continue
		}
		name := strings.TrimSuffix(strings.TrimSuffix(e.Name(), ".gz"), ".zst")
		ext := filepath.Ext(name)
		name = strings.TrimSuffix(name, ext)
		if (ext == ".json" || ext == ".yaml" || ext == ".yml") && checkName("stack", name, true) == nil {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func (f *File) refs(project string) []Ref {
	if f.legacy {
		return f.refsIn(f.path("stacks"), "")
	}
	if project != "" {
		return f.refsIn(f.path("stacks", project), project)
	}
	entries, err := os.ReadDir(f.path("stacks"))
	if err != nil {
		return nil
	}
	var refs []Ref
	for _, e := range entries { // sorted by name
		if e.IsDir() && checkName("project", e.Name(), true) == nil {
			refs = append(refs, f.refsIn(f.path("stacks", e.Name()), e.Name())...)
		}
	}
	return refs
}

func (f *File) refsIn(dir, project string) []Ref {
	var refs []Ref
	for _, name := range f.stackNames(dir) {
		refs = append(refs, Ref{project, name})
	}
	return refs
}

// parallelReads is how many stack files are read at once for a list (state.md 7.4).
const parallelReads = 10

// Stacks implements [Backend].
func (f *File) Stacks(ctx context.Context, project string) ([]Listing, error) {
	refs := f.refs(project)
	listings := iter.Mapper[Ref, Listing]{MaxGoroutines: parallelReads}.Map(refs, func(ref *Ref) Listing {
		l := Listing{Ref: *ref}
		if l.Err = ctx.Err(); l.Err == nil {
			l.Summary, l.Err = f.stack(*ref).summary()
		}
		return l
	})
	return listings, ctx.Err()
}

// Open implements [Backend].
func (f *File) Open(ctx context.Context, ref Ref) (Stack, error) {
	s := f.stack(ref)
	if err := s.exists(); err != nil {
		return nil, err
	}
	s.recoverIfFree(ctx)
	return s, nil
}

// Init implements [Backend].
func (f *File) Init(ctx context.Context, ref Ref, m secrets.Manager) (Stack, error) {
	if err := ref.check(false, !f.isTrue("PULUMI_DISABLE_VALIDATION")); err != nil {
		return nil, err
	}
	if err := f.prepareWrite(); err != nil {
		return nil, err
	}
	s := f.stack(ref)
	s.secrets = m
	unlock, err := s.Lock(ctx)
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
	if s.exists() == nil {
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
	if err := s.exists(); err != nil {
		return err
	}
	l, err := s.lock(ctx)
	if err != nil {
		return err
	}
	if !o.Force {
		err = s.recover(ctx)
	}
	if err == nil {
		err = s.remove(ctx, o)
	}
	return errors.Join(err, l.Release())
}

func (s *fileStack) remove(ctx context.Context, o RemoveOptions) error {
	if !o.Force {
		summary, err := s.summary()
		if err != nil {
			return err
		}
		if summary.Resources > 1 || summary.Resources == 1 && !summary.OnlyRoot {
			return &NotEmptyError{s.ref.Name, summary.Resources}
		}
	}
	for _, c := range compressions() {
		path := s.base() + c.extension()
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		err := s.backend.writer.keep(path, path+".bak")
		if err = errors.Join(err, removeIfExists(path), removeIfExists(path+".attrs")); err != nil {
			return err
		}
	}
	_, err := s.discard(ctx)
	err = errors.Join(err, removeIfExists(s.tags()), os.RemoveAll(s.historyDir()))
	if !o.Backups {
		return err
	}
	for _, c := range compressions() {
		err = errors.Join(err, removeIfExists(s.base()+c.extension()+".bak"))
	}
	return errors.Join(err, os.RemoveAll(s.backupDir()))
}
