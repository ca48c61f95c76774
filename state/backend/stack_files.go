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
	"github.com/sluice-iac/sluice/state/backend/internal/layout"
	"github.com/sluice-iac/sluice/state/backend/internal/stackfile"
	"github.com/sluice-iac/sluice/state/lock"
	"github.com/sluice-iac/sluice/state/secrets"
	"github.com/sluice-iac/sluice/state/store"
)

// stackFiles are the files of one stack. It is immutable.
//
// Invariant: it uses the files as they are, even after an interrupted operation, and needs no secrets.
type stackFiles struct {
	storage *storage
	ref     Ref
}

func (s stackFiles) keys() layout.Stack {
	return layout.Stack{Project: s.ref.Project, Name: s.ref.Name}
}

// sides returns the keys of what is kept beside the state.
func (s stackFiles) sides() (keys []string) {
	for _, kind := range Sides() {
		keys = append(keys, s.keys().Beside(string(kind)))
	}
	return keys
}

// file is the stack file.
func (s stackFiles) file() stackfile.File {
	return stackfile.File{
		Store: s.storage.store, Keys: s.keys(), Stack: s.ref.String(), Format: s.storage.format, Now: s.storage.options.Now,
		Retain: s.storage.options.flag("RETAIN_CHECKPOINTS") || s.storage.options.isTrue("PULUMI_RETAIN_CHECKPOINTS"),
	}
}

// exists returns a [*NotFoundError] if there is no stack file.
func (s stackFiles) exists(ctx context.Context) error {
	_, info, err := s.file().Current(ctx)
	if err != nil || info.Key != "" {
		return err
	}
	e := &NotFoundError{Name: s.ref.Name}
	left, err := s.storage.store.Stat(ctx, s.keys().Previous()...)
	if err != nil {
		return err
	}
	if len(left) > 0 {
		e.Backup = s.storage.store.Name(left[0].Key)
	}
	return e
}

// read returns the content of the stack file, uncompressed, and the name of the file.
func (s stackFiles) read(ctx context.Context) (content []byte, name string, err error) {
	content, name, err = s.file().Read(ctx)
	if errors.Is(err, fs.ErrNotExist) {
		if err := s.exists(ctx); err != nil {
			return nil, "", err
		}
	}
	var damaged *state.DecodeError
	if errors.As(err, &damaged) {
		err = s.corrupt(ctx, damaged.Name, damaged)
	}
	return content, name, err
}

// content returns the content of the stack file, nil if there is none.
func (s stackFiles) content(ctx context.Context) ([]byte, error) {
	b, _, err := s.read(ctx)
	var missing *NotFoundError
	if errors.As(err, &missing) {
		return nil, nil
	}
	return b, err
}

// corrupt returns the error for a damaged stack file, with the files that could replace it.
func (s stackFiles) corrupt(ctx context.Context, name string, err error) error {
	e := &CorruptError{Stack: s.ref.Name, File: name, Err: err}
	add := func(infos []store.Info, listing error, part string) {
		for _, i := range infos {
			if i.Size > 0 && strings.Contains(i.Key, part) {
				e.Candidates = append(e.Candidates, Candidate{s.storage.store.Name(i.Key), i.Modified})
			}
		}
		if listing != nil {
			e.Err = errors.Join(e.Err, fmt.Errorf("look for older copies: %w", listing))
		}
	}
	infos, listing := s.storage.store.List(ctx, s.keys().Backups()+"/")
	add(infos, listing, ".json")
	infos, listing = s.storage.store.List(ctx, s.keys().History()+"/")
	add(infos, listing, ".checkpoint.json")
	infos, listing = s.storage.store.Stat(ctx, s.keys().Previous()...)
	add(infos, listing, ".bak")
	slices.SortFunc(e.Candidates, func(a, b Candidate) int {
		if c := b.Time.Compare(a.Time); c != 0 {
			return c
		}
		return strings.Compare(a.Path, b.Path)
	})
	return e
}

// summary returns the summary of the stack in a list.
func (s stackFiles) summary(ctx context.Context) (state.Summary, error) {
	b, name, err := s.read(ctx)
	if err != nil {
		return state.Summary{}, err
	}
	return s.summarise(ctx, b, name)
}

// summarise returns the summary of the stack in a list, from the content of the stack file.
func (s stackFiles) summarise(ctx context.Context, content []byte, name string) (state.Summary, error) {
	summary, err := state.Summarise(content, name)
	if err != nil {
		return state.Summary{}, s.explain(ctx, name, err)
	}
	return summary, nil
}

// decrypters returns the decrypter for the secrets of a state.
type decrypters func(context.Context, *state.SecretsProvider) (property.Decrypter, error)

// load returns the state, unchecked, with its secrets sealed.
func (s stackFiles) load(ctx context.Context) (*state.Snapshot, error) {
	b, name, err := s.read(ctx)
	if err != nil {
		return nil, err
	}
	return s.decode(ctx, b, name, nil)
}

// decode returns the state in the content of the stack file, unchecked. Without a decrypter its secrets are left sealed.
func (s stackFiles) decode(ctx context.Context, content []byte, name string, decrypter decrypters) (*state.Snapshot, error) {
	c, err := state.DecodeCheckpoint(ctx, content, state.DecodeOptions{Name: name, Decrypter: decrypter})
	if err != nil {
		return nil, s.explain(ctx, name, err)
	}
	return c.Latest, nil
}

// explain distinguishes damage from errors that only the user can correct: a passphrase, a newer version.
func (s stackFiles) explain(ctx context.Context, name string, err error) error {
	var unsupported *secrets.UnsupportedProviderError
	var features *state.UnsupportedFeaturesError
	var unanswered *secrets.PromptError
	var unreadable *secrets.UnreadableError
	switch {
	case errors.As(err, &unanswered): // for whichever secret it was asked
		return unanswered
	case errors.As(err, &unreadable): // for whichever secret
		return unreadable
	}
	if errors.As(err, &unsupported) || errors.As(err, &features) || errors.Is(err, secrets.ErrNoPassphrase) ||
		errors.Is(err, secrets.ErrIncorrectPassphrase) || errors.Is(err, state.ErrVersion) || errors.Is(err, context.Canceled) {
		return err
	}
	return s.corrupt(ctx, name, err)
}

func (s stackFiles) lockOptions() lock.Options {
	return lock.Options{
		Store: s.storage.store, Folder: s.keys().Locks(), Files: s.keys().Written(), Every: s.storage.every, Lost: s.storage.lost, Machine: s.storage.options.Machine,
	}
}

// lock takes the lock without recovering anything.
func (s stackFiles) lock(ctx context.Context, o LockOptions) (*lock.Lock, error) {
	if err := s.storage.prepareWrite(ctx); err != nil {
		return nil, err
	}
	if l, kept := s.storage.unmarked.LoadAndDelete(s.ref); kept {
		_ = s.giveUp(l.(*lock.Lock)) // otherwise the lock is still held
	}
	how := s.lockOptions()
	how.Operation, how.OnLost, how.Note = o.Operation, o.OnLost, func(text string) { s.storage.options.note(text) }
	return lock.Acquire(ctx, how)
}

// giveUp gives the lock up for the next holder. If that fails, it is tried again when this process takes the lock next.
func (s stackFiles) giveUp(l *lock.Lock) error {
	err := l.GiveUp()
	if err != nil {
		s.storage.unmarked.Store(s.ref, l)
	}
	return err
}

func (s stackFiles) journal() *journalFile {
	return &journalFile{store.NewLog(s.storage.store, s.keys().Journal()), s}
}
