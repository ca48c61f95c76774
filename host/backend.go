package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/advice"
	"github.com/sluice-iac/sluice/internal/operation"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/state/backend"
	"github.com/sluice-iac/sluice/state/backend/service"
	"github.com/sluice-iac/sluice/state/backend/workspace"
	"github.com/sluice-iac/sluice/state/secrets"
	"github.com/sluice-iac/sluice/state/store"
)

// BackendOptions say how a backend is opened.
type BackendOptions struct {
	// URL names the backend, for example "file://~" (state.md 4.2).
	URL string
	// Project is the current project, to which bare stack names belong; "" when there is none.
	Project string
	// LookupEnv reads the environment, as [os.LookupEnv] does; nil means that no variable is set.
	LookupEnv func(name string) (string, bool)
	// Passphrases opens the secrets in states.
	Passphrases secrets.Source
	// SkipIntegrity loads states that fail the integrity check.
	SkipIntegrity bool
	// Stores opens URLs of other schemes than file, by scheme: what package cloud has, or one of your own.
	Stores map[string]store.Opener
	// Checkpoints says how often an operation writes the stack file.
	Checkpoints backend.Cadence
	// Note is called with one line about each operation that was interrupted, or is running while its stack is read, and what can be
	// done about it; nil discards.
	Note func(text string, as ...advice.Advice)
	// Undecided is called when a stack is opened or read whose journal needs a decision before it may be applied. Locking the stack
	// returns the same error. nil means Note.
	Undecided func(*backend.JournalError)
	// Renamed is called after a stack was renamed, or an interrupted rename was completed, so that what names the stack
	// outside the backend can be changed too. It may be called again for the same rename. remark tells the user what is left
	// to do; it may be "". An error does not undo the rename. nil does nothing.
	Renamed func(from, to backend.Ref) (remark string, err error)
}

// OpenBackend opens a backend: Pulumi's service, or one that has its interface, for a URL that begins with https:// or http://, and a
// self-managed backend for any other. Nothing is written.
func OpenBackend(ctx context.Context, o BackendOptions) (backend.Backend, error) {
	options := backend.Options{
		URL: o.URL, Project: o.Project, Environment: o.LookupEnv, Passphrases: o.Passphrases, Version: sluice.ManifestVersion,
		SkipIntegrity: o.SkipIntegrity, Stores: o.Stores, Checkpoints: o.Checkpoints, Note: o.Note, Undecided: o.Undecided,
		Renamed: o.Renamed,
	}
	if !service.Handles(o.URL) {
		b, err := backend.Open(ctx, options)
		if errors.Is(err, backend.ErrScheme) {
			err = fmt.Errorf("%w; https:// is Pulumi's service", err)
		}
		return b, err
	}
	lookup := o.LookupEnv
	if lookup == nil {
		lookup = func(string) (string, bool) { return "", false }
	}
	home, err := workspace.Home(lookup)
	if err != nil {
		return nil, err
	}
	return service.Open(ctx, service.Options{Options: options, Home: home})
}

// LocalBackendURL is the backend that is used when none is configured, the one that `pulumi login --local` puts it.
const LocalBackendURL = "file://~"

// BackendURL returns the backend to use (state.md 4.1): that of PULUMI_BACKEND_URL, else the one that the project file
// names, which may be "", else the one that is logged in to, else [LocalBackendURL].
func BackendURL(home, projectURL string, lookupEnv func(name string) (string, bool)) (string, error) {
	url, err := workspace.NewCredentials(home, lookupEnv).BackendURL(lookupEnv, projectURL)
	if errors.Is(err, workspace.ErrNoBackend) {
		return LocalBackendURL, nil
	}
	return url, err
}

// LockedOptions say what [Locked] does beside calling the function. The zero value is usable.
type LockedOptions struct {
	// Create makes the stack if it does not exist. Without it that is a [*backend.NotFoundError].
	Create bool
	// Secrets encrypts the secrets of the state; nil uses what the state names.
	Secrets secrets.Manager
	// Operation says in a word what the lock is for, to others who want it. "" says nothing.
	Operation string
	// Message and Environment are written into the history with each operation, for whoever reads it.
	Message     string
	Environment map[string]string
}

// Locked calls f with the stack of that name, as [backend.Catalog] resolves names, while this process holds its lock:
//
//	err := host.Locked(ctx, b, "dev", host.LockedOptions{Create: true}, func(ctx context.Context, s backend.Stack) error {
//		options.State = s
//		_, err := sluice.Update(ctx, options)
//		return err
//	})
//
// Each operation within f that records on the stack is written into its history when it ends, whether or not it succeeds, with the
// settings that are no secrets. Previews are not. The stack must not be used when f has returned.
//
// However f ends, also by a panic, the lock is released. The error wraps the error of f, what went wrong with the history, a
// [*lock.LostError] if the lock was lost meanwhile, and what prevented its release. If somebody else has the lock, it is a
// [*lock.HeldError], and f is not called.
func Locked(
	ctx context.Context, b backend.Backend, name string, o LockedOptions, f func(ctx context.Context, s backend.Stack) error,
) (err error) {
	defer func() { err = operation.WithCause(ctx, err) }()
	stack, err := selectStack(ctx, b, name, o)
	if err != nil {
		return err
	}
	if o.Secrets != nil {
		stack = stack.WithSecrets(o.Secrets)
	}
	l, err := stack.Lock(ctx, backend.LockOptions{Operation: o.Operation})
	if err != nil {
		return err
	}
	s := lockedStack{stack, &chronicle{options: o}}
	defer func() {
		lost := l.Check(context.WithoutCancel(ctx))
		err = errors.Join(err, s.chronicle.failure(), lost, l.Close())
	}()
	return f(ctx, s)
}

func selectStack(ctx context.Context, b backend.Backend, name string, o LockedOptions) (backend.Stack, error) {
	ref, err := b.Resolve(name)
	if err != nil {
		return nil, err
	}
	s, err := b.Open(ctx, ref)
	if !o.Create || !errors.As(err, new(*backend.NotFoundError)) {
		return s, err
	}
	s, err = b.Init(ctx, ref, o.Secrets)
	if errors.As(err, new(*backend.ExistsError)) {
		return b.Open(ctx, ref) // somebody else was faster
	}
	return s, err
}

// lockedStack is a stack within [Locked].
type lockedStack struct {
	backend.Stack
	chronicle *chronicle
}

// Readable implements [backend.Stack].
func (s lockedStack) Readable() backend.Stack { return lockedStack{s.Stack.Readable(), s.chronicle} }

// WithSecrets implements [backend.Stack].
func (s lockedStack) WithSecrets(m secrets.Manager) backend.Stack {
	return lockedStack{s.Stack.WithSecrets(m), s.chronicle}
}

// SaveMove implements [backend.Stack]. The other stack may be that of another Locked.
func (s lockedStack) SaveMove(ctx context.Context, own *state.Snapshot, dest backend.Stack, destState *state.Snapshot) error {
	if other, ok := dest.(lockedStack); ok {
		dest = other.Stack
	}
	return s.Stack.SaveMove(ctx, own, dest, destState)
}

// Ended implements [sluice.Historian].
func (s lockedStack) Ended(ctx context.Context, e sluice.Ended) {
	entry := backend.Update{
		Kind: e.Kind, StartTime: e.Began.Unix(), EndTime: time.Now().Unix(), Message: s.chronicle.options.Message,
		Environment: maps.Clone(s.chronicle.options.Environment), Result: backend.ResultSucceeded, ResourceChanges: map[string]int{},
	}
	if e.Kind == "recover" {
		entry.Kind = "refresh" // other tools know no recovery
	}
	if e.Err != nil {
		entry.Result = backend.ResultFailed
	}
	for op, n := range e.Changes {
		entry.ResourceChanges[string(op)] = n
	}
	var err error
	if entry.Config, err = withoutSecrets(e.Config); err == nil {
		err = s.WriteHistory(context.WithoutCancel(ctx), entry)
	}
	s.chronicle.note(err)
}

// withoutSecrets returns the settings that are no secrets as JSON (state.md 6.5).
func withoutSecrets(c sluice.Config) (json.RawMessage, error) {
	values := make(map[string]string, len(c))
	for k, v := range c {
		if !v.Secret {
			values[k] = v.Text
		}
	}
	return json.Marshal(values)
}

// chronicle keeps what went wrong with the history.
type chronicle struct {
	options LockedOptions

	mu  sync.Mutex // guards err
	err error
}

func (c *chronicle) note(err error) {
	if err == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.err = errors.Join(c.err, fmt.Errorf("the operation has ended and is not in the history: %w", err))
}

func (c *chronicle) failure() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}
