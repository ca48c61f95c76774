package backend

import (
	"context"
	"io"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/state/lock"
	"github.com/sluice-iac/sluice/state/secrets"
)

// Backend is a place where the states of stacks are kept. It is safe for concurrent use.
type Backend interface {
	// URL is the text that the backend was opened with.
	URL() string
	// Resolve returns the stack that a user's text names: "S", "organization/S" or "organization/P/S" (state.md 4.4).
	// Whether there is one is not checked.
	Resolve(name string) (Ref, error)
	// Stacks lists the stacks of a project, of all projects if project is "", in the order of project and name. What was cut off
	// on one of them is recovered first, as when it is opened.
	Stacks(ctx context.Context, project string) ([]Listing, error)
	// Open returns an existing stack, or a [*NotFoundError]. If an operation on it was cut off and nobody has its lock, the
	// state is brought up to date; if one on two stacks was, it is completed, which may be what makes or removes the stack.
	Open(ctx context.Context, ref Ref) (Stack, error)
	// Init makes a stack without resources (state.md 7.2), or returns an [*ExistsError]. A nil manager leaves the
	// choice of the secrets provider to the first operation.
	Init(ctx context.Context, ref Ref, m secrets.Manager) (Stack, error)
	// Rename gives a stack another name, and with it the resources, the history and the tags (state.md 7.7). The project may
	// change too. It returns a [*NotFoundError] or an [*ExistsError]. What is sealed stays sealed. A rename that is cut off is
	// completed by whoever opens one of the two names or takes its lock next.
	Rename(ctx context.Context, from, to Ref) (Stack, error)
	// Upgrade gives a store of the old layout the present one (state.md 7.10). The project of a stack is what its resources
	// name; ask is asked for that of a stack without resources, and may answer "" to leave it. ask may be nil.
	Upgrade(ctx context.Context, ask func(stack string) (project string, err error)) ([]Upgraded, error)
	// Remove removes a stack (state.md 7.5). It returns a [*NotFoundError] or a [*NotEmptyError].
	Remove(ctx context.Context, ref Ref, o RemoveOptions) error
	// StackOutputs returns the outputs of another stack, for a stack reference (state.md 8). A stack that does not
	// exist is the error `unknown stack "name"`.
	StackOutputs(ctx context.Context, name string) (property.Map, error)
	// StackResources returns the live resources of another stack.
	StackResources(ctx context.Context, name string) ([]*state.Resource, error)
	// Close gives back connections. Nothing may be called afterwards.
	Close() error
}

// Stack is one stack of a backend. It satisfies what an operation needs of a state store. It is safe for concurrent
// use, but only the holder of its lock may write.
type Stack interface {
	Ref() Ref
	// File names the stack file, for messages.
	File(ctx context.Context) string
	// Revision tells one content of the stack file from the next; "" when there is none.
	Revision(ctx context.Context) (string, error)
	// WithSecrets returns the same stack, whose writes encrypt with m. Without it, writes use the provider that the
	// state names.
	WithSecrets(m secrets.Manager) Stack
	// SecretsProvider is what the stack file names; nil when it names none.
	SecretsProvider(ctx context.Context) (*state.SecretsProvider, error)

	// Load returns the state with secrets opened and integrity checked, nil for a stack that was never deployed.
	// Errors are a [*CorruptError] or an [*IntegrityError] and name the file.
	Load(ctx context.Context) (*state.Snapshot, error)
	// LoadSealed is Load with secrets left sealed and integrity unchecked: for edits of a state whose passphrase nobody
	// has, and for repairs. What it returns may be given to Save.
	LoadSealed(ctx context.Context) (*state.Snapshot, error)
	// Check returns an [*IntegrityError] for what LoadSealed has returned if Load would have refused it.
	Check(ctx context.Context, s *state.Snapshot) error
	// Record begins a run on top of base. The caller holds the lock. A base that [state.CheckMutable] refuses is refused.
	Record(ctx context.Context, base *state.Snapshot) (state.Recorder, error)
	// Save replaces the state as a state command does: manifest, metadata and pending operations stay as they are in s
	// (state.md 7.10). A snapshot that fails [state.Verify] is refused. The caller holds the lock.
	Save(ctx context.Context, s *state.Snapshot) error
	// SaveMove is Save for this stack, whose resources have moved to another one of the same backend, and for that one. The
	// caller holds both locks. Whenever it is cut off, each resource is in one of the two, at the latest when somebody opens
	// one of them or takes its lock: what was cut off is completed then.
	SaveMove(ctx context.Context, s *state.Snapshot, dest Stack, destState *state.Snapshot) error

	// Export returns the deployment as `stack export` prints it (state.md 7.6).
	Export(ctx context.Context, showSecrets bool) ([]byte, error)
	// Import replaces the state by an export and returns what the user has to be warned of. It takes the lock.
	Import(ctx context.Context, export []byte, force bool) (warnings []string, err error)
	// Outputs returns the outputs of the stack, without an integrity check. With sealed set no passphrase is needed,
	// and secrets are [property.Value.IsSealed].
	Outputs(ctx context.Context, sealed bool) (property.Map, error)

	// Lock takes the lock, or returns a [*lock.HeldError]. The closer releases it; closing it again does nothing. If an
	// operation was cut off, the state is brought up to date first; a [*JournalError] says that this cannot be done.
	Lock(ctx context.Context, o LockOptions) (Lock, error)
	// Locks lists who has the lock. As long as an operation on this stack and another one has not ended, the locks of both
	// are meant.
	Locks(ctx context.Context) ([]lock.Held, error)
	// BreakLocks removes all locks and returns how many there were.
	BreakLocks(ctx context.Context) (int, error)
	// DiscardJournal puts what is left of an operation that was cut off aside, without applying it, and returns where it is
	// now, "" if there is nothing. It takes the lock.
	DiscardJournal(ctx context.Context) (where string, err error)

	// Tags returns what the stack is labelled with (state.md 7.9).
	Tags(ctx context.Context) (map[string]string, error)
	// EditTags changes the tags. edit may be called several times.
	EditTags(ctx context.Context, edit func(tags map[string]string)) error

	// WriteHistory records a finished operation, with a copy of the stack file, and backs the stack file up
	// (state.md 4.7, 4.8).
	WriteHistory(ctx context.Context, u Update) error
	// History returns the recorded operations, the newest first, and a warning for each that cannot be read.
	History(ctx context.Context) (updates []Update, warnings []string, err error)
}

// LockOptions say what a lock is for.
type LockOptions struct {
	// Operation is a word for whoever finds the lock: "update". It may be "".
	Operation string
	// OnLost is called, once and by another goroutine, when the lock is lost: somebody has broken it, or it could not be
	// renewed. It may be nil.
	OnLost func(error)
}

// Lock is the lock of a stack that this process has.
type Lock interface {
	io.Closer
	// Check returns a [*lock.LostError] when the lock is no longer certainly this process's. Whoever has it asks before it
	// starts what nobody else may do at the same time.
	Check(ctx context.Context) error
}

// RemoveOptions say what goes with a stack.
type RemoveOptions struct {
	Force   bool // although there are resources
	Backups bool // the .bak files and backups, too
}

// Listing is one stack in a list (state.md 7.4).
type Listing struct {
	Ref     Ref
	Summary state.Summary
	Err     error // the stack file is corrupt; the summary is empty then
}

// Upgraded says what has become of a stack of the old layout.
type Upgraded struct {
	Name    string
	Project string // "" when nobody knows it; the stack is left as it is
	Err     error
}
