package backend

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/state/lock"
	"github.com/sluice-iac/sluice/state/secrets"
)

// fileStack is a stack of a [File] backend. It holds nothing that changes.
type fileStack struct {
	backend *File
	ref     Ref
	secrets secrets.Manager // nil: what the state names
}

var _ Stack = (*fileStack)(nil)

func (f *File) stack(ref Ref) *fileStack { return &fileStack{backend: f, ref: ref} }

func (s *fileStack) Ref() Ref { return s.ref }

func (s *fileStack) WithSecrets(m secrets.Manager) Stack {
	c := *s
	c.secrets = m
	return &c
}

// key returns the path of something that belongs to the stack, below one of the trees of state.md 4.4.
func (s *fileStack) key(tree string) string { return s.backend.path(tree, s.ref.Project, s.ref.Name) }

func (s *fileStack) base() string       { return s.key("stacks") + ".json" }
func (s *fileStack) tags() string       { return s.key("stacks") + ".pulumi-tags" }
func (s *fileStack) historyDir() string { return s.key("history") }
func (s *fileStack) backupDir() string  { return s.key("backups") }

func (s *fileStack) lockOptions() lock.Options {
	dir := s.key("locks")
	if !s.backend.legacy {
		dir = s.backend.path("locks", Organization, s.ref.Project, s.ref.Name)
	}
	return lock.Options{
		Dir: dir, TempDir: s.backend.path("sluice", "tmp"),
		URL: func(path string) string { return "file://" + filepath.ToSlash(path) },
	}
}

// File implements [Stack].
func (s *fileStack) File() string { return s.current() }

// current is the stack file: of the variants that exist the one modified last, and of equally old ones the last in key
// order (state.md 4.5). When there is none it is the one that would be written.
func (s *fileStack) current() string {
	newest, found := "", int64(0)
	for _, c := range compressions() {
		path := s.base() + c.extension()
		info, err := os.Stat(path)
		if err != nil {
			continue
		}
		if at := info.ModTime().UnixNano(); newest == "" || at >= found {
			newest, found = path, at
		}
	}
	if newest == "" {
		return s.base() + s.backend.compression.extension()
	}
	return newest
}

func (s *fileStack) exists() error {
	path := s.current()
	_, err := os.Stat(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	e := &NotFoundError{Name: s.ref.Name}
	for _, c := range compressions() {
		bak := s.base() + c.extension() + ".bak"
		if _, err := os.Stat(bak); err == nil && e.Backup == "" {
			e.Backup = bak
		}
	}
	return e
}

// read returns the content of the stack file, uncompressed.
func (s *fileStack) read() ([]byte, error) {
	b, err := os.ReadFile(s.current())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, s.exists()
	}
	if err != nil {
		return nil, err
	}
	if b, err = unpack(b); err != nil {
		return nil, s.corrupt(&state.DecodeError{Name: s.current(), Err: err})
	}
	return b, nil
}

// corrupt says what is wrong with the stack file and what could replace it.
func (s *fileStack) corrupt(err error) error {
	e := &CorruptError{File: s.current(), Err: err}
	patterns := []string{
		filepath.Join(s.backupDir(), "*.json*"),
		filepath.Join(s.historyDir(), "*.checkpoint.json*"),
	}
	for _, c := range compressions() {
		patterns = append(patterns, s.base()+c.extension()+".bak")
	}
	for _, p := range patterns {
		paths, _ := filepath.Glob(p) // the pattern is well formed
		for _, path := range paths {
			info, err := os.Stat(path)
			if err == nil && info.Size() > 0 && !strings.HasSuffix(path, ".attrs") && !strings.HasSuffix(path, ".tmp") {
				e.Candidates = append(e.Candidates, Candidate{path, info.ModTime()})
			}
		}
	}
	slices.SortFunc(e.Candidates, func(a, b Candidate) int {
		if c := b.Time.Compare(a.Time); c != 0 {
			return c
		}
		return strings.Compare(a.Path, b.Path)
	})
	return e
}

func (s *fileStack) summary() (state.Summary, error) {
	b, err := s.read()
	if err != nil {
		return state.Summary{}, err
	}
	summary, err := state.Summarise(b, s.current())
	if err != nil {
		return state.Summary{}, s.explain(err)
	}
	return summary, nil
}

// SecretsProvider implements [Stack].
func (s *fileStack) SecretsProvider(context.Context) (*state.SecretsProvider, error) {
	summary, err := s.summary()
	return summary.SecretsProvider, err
}

// Load implements [Stack].
func (s *fileStack) Load(ctx context.Context) (*state.Snapshot, error) {
	snapshot, err := s.load(ctx, s.decrypter)
	if err == nil {
		err = s.Check(snapshot)
	}
	if err != nil {
		return nil, err
	}
	return snapshot, nil
}

// Check implements [Stack].
func (s *fileStack) Check(snapshot *state.Snapshot) error {
	if s.backend.options.SkipIntegrity {
		return nil
	}
	err := state.Verify(snapshot)
	if err == nil {
		err = state.VerifyURNs(snapshot)
	}
	if err != nil {
		return &IntegrityError{s.current(), err}
	}
	return nil
}

// LoadSealed implements [Stack].
func (s *fileStack) LoadSealed(ctx context.Context) (*state.Snapshot, error) { return s.load(ctx, nil) }

func (s *fileStack) load(
	ctx context.Context, decrypter func(context.Context, *state.SecretsProvider) (property.Decrypter, error),
) (*state.Snapshot, error) {
	b, err := s.read()
	if err != nil {
		return nil, err
	}
	c, err := state.DecodeCheckpoint(ctx, b, state.DecodeOptions{Name: s.current(), Decrypter: decrypter})
	if err != nil {
		return nil, s.explain(err)
	}
	return c.Latest, nil
}

// explain tells damage from what only the user can put right: a passphrase, a newer version.
func (s *fileStack) explain(err error) error {
	var unsupported *secrets.UnsupportedError
	var features *state.UnsupportedFeaturesError
	if errors.As(err, &unsupported) || errors.As(err, &features) || errors.Is(err, secrets.ErrNoPassphrase) ||
		errors.Is(err, secrets.ErrIncorrectPassphrase) || errors.Is(err, state.ErrVersion) || errors.Is(err, context.Canceled) {
		return err
	}
	return s.corrupt(err)
}

// manager returns the one that opens and seals what p encrypted; nil for no provider.
func (s *fileStack) manager(ctx context.Context, p *state.SecretsProvider) (secrets.Manager, error) {
	if s.secrets != nil && (p == nil || s.secrets.Provider().Identity() == p.Identity()) {
		return s.secrets, nil
	}
	return secrets.FromState(ctx, p, s.backend.options.Passphrases)
}

func (s *fileStack) decrypter(ctx context.Context, p *state.SecretsProvider) (property.Decrypter, error) {
	m, err := s.manager(ctx, p)
	if err != nil || m == nil {
		return nil, err
	}
	return m.Decrypter(), nil
}

// Lock implements [Stack].
func (s *fileStack) Lock(ctx context.Context) (io.Closer, error) {
	l, err := s.lock(ctx)
	if err != nil {
		return nil, err
	}
	if err := s.recover(ctx); err != nil {
		return nil, errors.Join(err, l.Release())
	}
	return closer(func() error { return s.unlock(l) }), nil
}

// unlock gives the lock up, unless an operation could not write its state: until its journal has been recovered nobody may
// work from the stack file, and Pulumi does not know of journals (state.md 9.4 R-4).
func (s *fileStack) unlock(l *lock.Lock) error {
	if s.journal().exists() {
		return fmt.Errorf("the lock of stack %s is kept, as what has been done is only in its journal: the next sluice command recovers it; "+
			"if that is refused because of the lock, `sluice cancel` removes it", s.ref.Name)
	}
	return l.Release()
}

// lock takes the lock and does nothing about a journal.
func (s *fileStack) lock(ctx context.Context) (*lock.Lock, error) {
	if err := s.backend.prepareWrite(); err != nil {
		return nil, err
	}
	return lock.Acquire(ctx, s.lockOptions())
}

type closer func() error

func (c closer) Close() error { return c() }

// Locks implements [Stack].
func (s *fileStack) Locks(context.Context) ([]lock.Held, error) { return lock.List(s.lockOptions()) }

// BreakLocks implements [Stack].
func (s *fileStack) BreakLocks(context.Context) (int, error) { return lock.Break(s.lockOptions()) }

// StackOutputs implements [Backend].
func (f *File) StackOutputs(ctx context.Context, name string) (property.Map, error) {
	s, err := f.referenced(name)
	if err != nil {
		return property.Map{}, err
	}
	return s.Outputs(ctx, false)
}

func (f *File) referenced(name string) (*fileStack, error) {
	ref, err := f.Resolve(name)
	if err != nil {
		return nil, err
	}
	s := f.stack(ref)
	var missing *NotFoundError
	if err := s.exists(); errors.As(err, &missing) {
		return nil, fmt.Errorf("unknown stack %q: %w", name, missing)
	} else if err != nil {
		return nil, err
	}
	return s, nil
}

// Outputs implements [Stack].
func (s *fileStack) Outputs(ctx context.Context, sealed bool) (property.Map, error) {
	b, err := s.read()
	if err != nil {
		return property.Map{}, err
	}
	o := state.DecodeOptions{Name: s.current(), Decrypter: s.decrypter}
	if sealed {
		o.Decrypter = nil
	}
	outputs, err := state.DecodeOutputs(ctx, b, o)
	if err != nil {
		return property.Map{}, s.explain(err)
	}
	return outputs, nil
}

// StackResources implements [Backend].
func (f *File) StackResources(ctx context.Context, name string) ([]*state.Resource, error) {
	s, err := f.referenced(name)
	if err != nil {
		return nil, err
	}
	snapshot, err := s.Load(ctx)
	if err != nil || snapshot == nil {
		return nil, err
	}
	return slices.DeleteFunc(slices.Clone(snapshot.Resources), func(r *state.Resource) bool { return r.Delete }), nil
}
