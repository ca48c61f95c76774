package backend

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/state/lock"
	"github.com/sluice-iac/sluice/state/secrets"
	"github.com/sluice-iac/sluice/state/store"
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

// key returns the key of something that belongs to the stack, below one of the trees of state.md 4.4.
func (s *fileStack) key(tree string) string { return s.backend.key(tree, s.ref.Project, s.ref.Name) }

func (s *fileStack) base() string          { return s.key("stacks") + ".json" }
func (s *fileStack) tags() string          { return s.key("stacks") + ".pulumi-tags" }
func (s *fileStack) historyFolder() string { return s.key("history") }
func (s *fileStack) backupFolder() string  { return s.key("backups") }

// variants are the keys under which the stack file may be, in their order.
func (s *fileStack) variants() []string {
	var keys []string
	for _, c := range compressions() {
		keys = append(keys, s.base()+c.extension())
	}
	return keys
}

func (s *fileStack) lockOptions() lock.Options {
	folder := s.key("locks")
	if s.ref.Project != "" {
		folder = s.backend.key("locks", Organization, s.ref.Project, s.ref.Name)
	}
	return lock.Options{Store: s.backend.store, Folder: folder, Every: s.backend.every, Lost: s.backend.lost}
}

// File implements [Stack].
func (s *fileStack) File(ctx context.Context) string {
	current, _, err := s.current(ctx)
	if err != nil {
		current = s.base()
	}
	return s.backend.store.Name(current)
}

// Revision implements [Stack].
func (s *fileStack) Revision(ctx context.Context) (string, error) {
	_, info, err := s.current(ctx)
	return info.Revision, err
}

// current is the stack file: of the variants that exist the one modified last, and of equally old ones the last in key
// order (state.md 4.5). When there is none it is the one that would be written, and its description is empty.
func (s *fileStack) current(ctx context.Context) (key string, newest store.Info, err error) {
	present, err := s.backend.store.Stat(ctx, s.variants()...)
	if err != nil {
		return "", store.Info{}, err
	}
	for _, i := range present {
		if newest.Key == "" || !i.Modified.Before(newest.Modified) {
			newest = i
		}
	}
	if newest.Key == "" {
		return s.base() + s.backend.compression.extension(), store.Info{}, nil
	}
	return newest.Key, newest, nil
}

func (s *fileStack) exists(ctx context.Context) error {
	_, info, err := s.current(ctx)
	if err != nil || info.Key != "" {
		return err
	}
	e := &NotFoundError{Name: s.ref.Name}
	var backups []string
	for _, key := range s.variants() {
		backups = append(backups, key+".bak")
	}
	left, err := s.backend.store.Stat(ctx, backups...)
	if err != nil {
		return err
	}
	if len(left) > 0 {
		e.Backup = s.backend.store.Name(left[0].Key)
	}
	return e
}

// read returns the content of the stack file, uncompressed, and the name of the file.
func (s *fileStack) read(ctx context.Context) (content []byte, name string, err error) {
	key, _, err := s.current(ctx)
	if err != nil {
		return nil, "", err
	}
	name = s.backend.store.Name(key)
	b, _, err := s.backend.store.Read(ctx, key)
	if errors.Is(err, fs.ErrNotExist) {
		if err := s.exists(ctx); err != nil {
			return nil, "", err
		}
	}
	if err != nil {
		return nil, "", err
	}
	if b, err = unpack(b); err != nil {
		return nil, "", s.corrupt(ctx, name, &state.DecodeError{Name: name, Err: err})
	}
	return b, name, nil
}

// corrupt says what is wrong with the stack file and what could replace it.
func (s *fileStack) corrupt(ctx context.Context, name string, err error) error {
	e := &CorruptError{File: name, Err: err}
	add := func(infos []store.Info, listing error, part string) {
		for _, i := range infos {
			if i.Size > 0 && strings.Contains(i.Key, part) {
				e.Candidates = append(e.Candidates, Candidate{s.backend.store.Name(i.Key), i.Modified})
			}
		}
		if listing != nil {
			e.Err = errors.Join(e.Err, fmt.Errorf("look for older copies: %w", listing))
		}
	}
	infos, listing := s.backend.store.List(ctx, s.backupFolder()+"/")
	add(infos, listing, ".json")
	infos, listing = s.backend.store.List(ctx, s.historyFolder()+"/")
	add(infos, listing, ".checkpoint.json")
	var backups []string
	for _, key := range s.variants() {
		backups = append(backups, key+".bak")
	}
	infos, listing = s.backend.store.Stat(ctx, backups...)
	add(infos, listing, ".bak")
	slices.SortFunc(e.Candidates, func(a, b Candidate) int {
		if c := b.Time.Compare(a.Time); c != 0 {
			return c
		}
		return strings.Compare(a.Path, b.Path)
	})
	return e
}

func (s *fileStack) summary(ctx context.Context) (state.Summary, error) {
	b, name, err := s.read(ctx)
	if err != nil {
		return state.Summary{}, err
	}
	summary, err := state.Summarise(b, name)
	if err != nil {
		return state.Summary{}, s.explain(ctx, name, err)
	}
	return summary, nil
}

// SecretsProvider implements [Stack].
func (s *fileStack) SecretsProvider(ctx context.Context) (*state.SecretsProvider, error) {
	summary, err := s.summary(ctx)
	return summary.SecretsProvider, err
}

// Load implements [Stack].
func (s *fileStack) Load(ctx context.Context) (*state.Snapshot, error) {
	snapshot, err := s.load(ctx, s.decrypter)
	if err == nil {
		err = s.Check(ctx, snapshot)
	}
	if err != nil {
		return nil, err
	}
	return snapshot, nil
}

// Check implements [Stack].
func (s *fileStack) Check(ctx context.Context, snapshot *state.Snapshot) error {
	if s.backend.options.SkipIntegrity {
		return nil
	}
	err := state.Verify(snapshot)
	if err == nil {
		err = state.VerifyURNs(snapshot)
	}
	if err != nil {
		return &IntegrityError{s.File(ctx), err}
	}
	return nil
}

// LoadSealed implements [Stack].
func (s *fileStack) LoadSealed(ctx context.Context) (*state.Snapshot, error) { return s.load(ctx, nil) }

func (s *fileStack) load(
	ctx context.Context, decrypter func(context.Context, *state.SecretsProvider) (property.Decrypter, error),
) (*state.Snapshot, error) {
	b, name, err := s.read(ctx)
	if err != nil {
		return nil, err
	}
	c, err := state.DecodeCheckpoint(ctx, b, state.DecodeOptions{Name: name, Decrypter: decrypter})
	if err != nil {
		return nil, s.explain(ctx, name, err)
	}
	return c.Latest, nil
}

// explain tells damage from what only the user can put right: a passphrase, a newer version.
func (s *fileStack) explain(ctx context.Context, name string, err error) error {
	var unsupported *secrets.UnsupportedError
	var features *state.UnsupportedFeaturesError
	if errors.As(err, &unsupported) || errors.As(err, &features) || errors.Is(err, secrets.ErrNoPassphrase) ||
		errors.Is(err, secrets.ErrIncorrectPassphrase) || errors.Is(err, state.ErrVersion) || errors.Is(err, context.Canceled) {
		return err
	}
	return s.corrupt(ctx, name, err)
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
func (s *fileStack) Lock(ctx context.Context, o LockOptions) (Lock, error) {
	l, err := s.lock(ctx, o)
	if err != nil {
		return nil, err
	}
	if err := s.recover(ctx); err != nil {
		return nil, errors.Join(err, l.Release())
	}
	return heldLock{l, s}, nil
}

// unlock gives the lock up, unless an operation could not write its state: until that has been recovered nobody may work from the
// stack file, and Pulumi does not know of journals (state.md 9.4 R-4).
func (s *fileStack) unlock(l *lock.Lock) error {
	left, err := s.cutOff(context.Background())
	if err != nil || left {
		l.Leave()
		return errors.Join(err, fmt.Errorf("the lock of stack %s is kept, as what has been done is only in its journal: the next sluice command "+
			"recovers it; if that is refused because of the lock, `sluice cancel` removes it", s.ref.Name))
	}
	return l.Release()
}

// lock takes the lock and does nothing about a journal.
func (s *fileStack) lock(ctx context.Context, o LockOptions) (*lock.Lock, error) {
	if err := s.backend.prepareWrite(ctx); err != nil {
		return nil, err
	}
	how := s.lockOptions()
	how.Operation, how.OnLost = o.Operation, o.OnLost
	return lock.Acquire(ctx, how)
}

// heldLock is a lock of a stack until it is closed.
type heldLock struct {
	*lock.Lock
	stack *fileStack
}

func (l heldLock) Close() error { return l.stack.unlock(l.Lock) }

// Locks implements [Stack].
func (s *fileStack) Locks(ctx context.Context) ([]lock.Held, error) {
	held, err := lock.List(ctx, s.lockOptions())
	if err != nil {
		return nil, err
	}
	others, err := s.pairLocks(ctx)
	return append(held, others...), err
}

// BreakLocks implements [Stack].
func (s *fileStack) BreakLocks(ctx context.Context) (int, error) {
	held, err := s.Locks(ctx)
	if err != nil {
		return 0, err
	}
	return lock.Remove(ctx, s.backend.store, held)
}

// StackOutputs implements [Backend].
func (f *File) StackOutputs(ctx context.Context, name string) (property.Map, error) {
	s, err := f.referenced(ctx, name)
	if err != nil {
		return property.Map{}, err
	}
	return s.Outputs(ctx, false)
}

func (f *File) referenced(ctx context.Context, name string) (*fileStack, error) {
	ref, err := f.Resolve(name)
	if err != nil {
		return nil, err
	}
	s := f.stack(ref)
	var missing *NotFoundError
	if err := s.exists(ctx); errors.As(err, &missing) {
		return nil, fmt.Errorf("unknown stack %q: %w", name, missing)
	} else if err != nil {
		return nil, err
	}
	return s, nil
}

// Outputs implements [Stack].
func (s *fileStack) Outputs(ctx context.Context, sealed bool) (property.Map, error) {
	b, name, err := s.read(ctx)
	if err != nil {
		return property.Map{}, err
	}
	o := state.DecodeOptions{Name: name, Decrypter: s.decrypter}
	if sealed {
		o.Decrypter = nil
	}
	outputs, err := state.DecodeOutputs(ctx, b, o)
	if err != nil {
		return property.Map{}, s.explain(ctx, name, err)
	}
	return outputs, nil
}

// StackResources implements [Backend].
func (f *File) StackResources(ctx context.Context, name string) ([]*state.Resource, error) {
	s, err := f.referenced(ctx, name)
	if err != nil {
		return nil, err
	}
	snapshot, err := s.Load(ctx)
	if err != nil || snapshot == nil {
		return nil, err
	}
	return slices.DeleteFunc(slices.Clone(snapshot.Resources), func(r *state.Resource) bool { return r.Delete }), nil
}
