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

// BackendOptions are the options of [OpenBackend].
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
	// Stores opens URLs of other schemes than file, by scheme: those of package cloud, or your own.
	Stores map[string]store.Opener
	// Checkpoints is how often an operation writes the stack file.
	Checkpoints backend.Cadence
	// Note is called with one line about each operation that was interrupted, or that is running while its stack is read, and with
	// the advice on it; nil discards.
	Note func(text string, as ...advice.Advice)
	// Undecided is called for the journal of an opened or read stack that cannot be applied without a decision of the user. Locking
	// the stack returns the same error. nil means Note.
	Undecided func(*backend.JournalError)
	// Renamed is called after a stack was renamed, or an interrupted rename was completed. It changes the references to the stack
	// outside the backend. It may be called again for the same rename. remark describes what is left for the user to do; it may be
	// "". An error does not undo the rename. nil does nothing.
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

// LocalBackendURL is the default backend, which `pulumi login --local` selects too.
const LocalBackendURL = "file://~"

// BackendURL returns the backend to use ([state.md 4.1]): PULUMI_BACKEND_URL, else projectURL, which is that of the project file and
// may be "", else that of the last login, else [LocalBackendURL].
//
// [state.md 4.1]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/state.md#41-which-one
func BackendURL(home, projectURL string, lookupEnv func(name string) (string, bool)) (string, error) {
	url, _, err := workspace.NewCredentials(home, lookupEnv).BackendURL(lookupEnv, projectURL)
	if errors.Is(err, workspace.ErrNoBackend) {
		return LocalBackendURL, nil
	}
	return url, err
}

// LockedOptions are the options of [Locked]. The zero value is usable.
type LockedOptions struct {
	// Create makes the stack if it does not exist. Otherwise a missing stack is a [*backend.NotFoundError].
	Create bool
	// Secrets encrypts the secrets of the state; nil uses the secrets manager that the state names. A state whose secrets are encrypted by a
	// manager of your own needs it each time.
	Secrets secrets.Manager
	// Operation is a word for the purpose of the lock, for others who try to lock the stack. It may be "".
	Operation string
	// Message and Environment are written into the history with each operation.
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
// Each operation within f that records on the stack is written into its history when it ends, whether or not it succeeds, with
// those settings that are not secret. Previews are not written. The setting [backend.HistoryKey] in the operation's Config bounds the history. The stack must not be used after f has returned.
//
// The lock is released however f ends, also after a panic. If what was done could not be written into the stack file, the lock stays for
// other tools, and the next operation on the stack, of this process or of another one, takes it over and recovers. If an operation of f
// still records, the lock stays until that has ended. Both are errors. The error wraps the error of f, errors of the history and of the
// release, and a [*lock.LostError] if the lock was lost meanwhile. If somebody else has the lock, the error is a [*lock.HeldError],
// and f is not called.
func Locked(
	ctx context.Context, b backend.Backend, name string, o LockedOptions, f func(ctx context.Context, s backend.Stack) error,
) (err error) {
	defer func() { err = operation.WithCause(ctx, withoutManager(o, err)) }()
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

// withoutManager adds to the error of a state, whose secrets the program itself has encrypted with a manager of its own, how to give that manager.
func withoutManager(o LockedOptions, err error) error {
	var unsupported *secrets.UnsupportedProviderError
	if o.Secrets != nil || !errors.As(err, &unsupported) || unsupported.IsKnown() {
		return err
	}
	return fmt.Errorf("%w; if your program has a secrets manager for it, give that to LockedOptions.Secrets", err)
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
		entry.Kind = "refresh" // other tools have no recovery
	}
	if e.Err != nil {
		entry.Result = backend.ResultFailed
	}
	for op, n := range e.Changes {
		entry.ResourceChanges[string(op)] = n
	}
	var err, wrong error
	if entry.Config, err = withoutSecrets(e.Config); err == nil {
		entry.Keep, wrong = backend.KeptHistory(e.Config[backend.HistoryKey].Text)
		err = s.WriteHistory(context.WithoutCancel(ctx), entry)
	}
	s.chronicle.note(errors.Join(wrong, err))
}

// withoutSecrets returns the settings that are not secret, as JSON (state.md 6.5).
func withoutSecrets(c sluice.Config) (json.RawMessage, error) {
	values := make(map[string]string, len(c))
	for k, v := range c {
		if !v.Secret {
			values[k] = v.Text
		}
	}
	return json.Marshal(values)
}

// chronicle keeps the errors of writing the history.
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
	c.err = errors.Join(c.err, fmt.Errorf("the operation has ended, and its history is not as it should be: %w", err))
}

func (c *chronicle) failure() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}
