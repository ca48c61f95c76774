package backend

import (
	"context"
	"io"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/state/lock"
	"github.com/sluice-iac/sluice/state/secrets"
)

// Backend is a place where the states of stacks are kept. It is safe for concurrent use. Whoever needs only a part of it takes
// only that part.
type Backend interface {
	Catalog
	// URL is the text that the backend was opened with.
	URL() string
	// Open returns an existing stack, or a [*NotFoundError]. If an operation on it was interrupted and its lock is free, the
	// state is brought up to date. An interrupted operation on two stacks is completed, which may make or remove the stack.
	Open(ctx context.Context, ref Ref) (Stack, error)
	// Init makes a stack without resources (state.md 7.2), or returns an [*ExistsError]. A nil manager leaves the
	// choice of the secrets provider to the first operation.
	Init(ctx context.Context, ref Ref, m secrets.Manager) (Stack, error)
	// Rename gives a stack another name, and with it the resources, the history and the tags (state.md 7.7). The project may
	// change too. It returns a [*NotFoundError] or an [*ExistsError]. What is sealed stays sealed. An interrupted rename is
	// completed when one of the two names is opened or locked next.
	Rename(ctx context.Context, from, to Ref) (Stack, error)
	// Upgrade gives a store of the old layout the present one (state.md 7.10). The project of a stack is the one that its
	// resources name; ask is called for a stack without resources, and may return "" to leave it as it is. ask may be nil.
	Upgrade(ctx context.Context, ask func(stack string) (project string, err error)) ([]Upgraded, error)
	// Remove removes a stack (state.md 7.5). It returns a [*NotFoundError] or a [*NotEmptyError].
	Remove(ctx context.Context, ref Ref, o RemoveOptions) error
	// StackOutputs returns the outputs of another stack, for a stack reference (state.md 8). A stack that does not
	// exist is the error `unknown stack "name"`.
	StackOutputs(ctx context.Context, name string) (property.Map, error)
	// StackResources returns the live resources of another stack.
	StackResources(ctx context.Context, name string) ([]*state.Resource, error)
	// Passphrases opens the secrets in the states of this backend.
	Passphrases() secrets.Source
	// DefaultSecrets is the manager of a stack for which no provider of secrets was chosen, nil where that is a passphrase.
	DefaultSecrets(ref Ref) secrets.Manager
	// Close closes connections. No method may be called afterwards.
	Close() error
}

// Catalog knows which stacks there are.
type Catalog interface {
	// Organization is the one that names without one belong to.
	Organization() string
	// Resolve returns the stack that a user's text names: "S", "organization/S" or "organization/P/S" (state.md 4.4).
	// Whether there is one is not checked.
	Resolve(name string) (Ref, error)
	// Stacks lists the stacks that a filter leaves, in the order of project and name. What was cut off on one of them is recovered first, as
	// when it is opened.
	Stacks(ctx context.Context, f Filter) ([]Listing, error)
}

// Filter says which stacks are listed. The zero value leaves all.
type Filter struct {
	Project, Organization string // "" is any
	Tag                   string // they have a tag of this name; "" is whatever they have
	Value                 string // of the tag; "" is any
}

// Stack is one stack of a backend. It is safe for concurrent use, but only the holder of its lock may write. Whoever needs only
// a part of it takes only that part.
//
// What it reads includes what is only in the journal of an operation that is running or could not be recovered; a note says so.
//
// As a [state.Store], it loads the state with secrets opened and integrity checked. Errors of Load are a [*CorruptError] or an
// [*InvalidStateError] and name the file. Record refuses a base that [state.CheckMutable] refuses. Once the lock is released or lost, a
// recorder begins nothing more.
//
// Record, Save and SaveMove write nothing and return
//   - a [*NotLockedError] unless the lock was taken with Lock of this value, or of one that WithSecrets has made of it or it of,
//   - a [*lock.LostError] if that lock is not this process's any more,
//   - a [*RecordingError] while a recording is open,
//   - a [*StaleStateError] unless the snapshot, or what it is an edit or a copy of, was loaded from what the stack file holds now. For
//     a stack that was never deployed it may be made.
type Stack interface {
	state.Store
	Editable
	Lockable
	Locks
	Tags
	History
	Runs

	Ref() Ref
	// Named returns the project and the name of Ref: the engine refuses operations that name another stack.
	Named() (project, name string)
	// Revision identifies the content of the stack file; "" when there is none.
	Revision(ctx context.Context) (string, error)
	// WithSecrets returns the same stack, whose writes encrypt with m. Without it, writes use the provider that the
	// state names.
	WithSecrets(m secrets.Manager) Stack
	// Readable returns the same stack for reading what can be read: a secret that cannot be opened is a value that is not available
	// (see [property.Unavailable]), where it is an error otherwise. What Load returns then cannot be saved.
	Readable() Stack
	// SecretsProvider is what the stack file names; nil when it names none.
	SecretsProvider(ctx context.Context) (*state.SecretsProvider, error)

	// SaveMove is Save for this stack, whose resources have moved to another one of the same backend, and for that one. The
	// caller holds both locks, and has loaded both states. If it is interrupted, it is completed when one of the two is opened or locked next, so that each
	// resource is in one of them.
	SaveMove(ctx context.Context, s *state.Snapshot, dest Stack, destState *state.Snapshot) error

	// Export returns the deployment as `stack export` prints it (state.md 7.6).
	Export(ctx context.Context, showSecrets bool) ([]byte, error)
	// ExportVersion is Export for the state that an operation of the history has left. The oldest one has the number 1. The error
	// is a [*VersionError] where no such state is kept.
	ExportVersion(ctx context.Context, version int, showSecrets bool) ([]byte, error)
	// Import replaces the state by an export and returns warnings for the user. It takes the lock.
	Import(ctx context.Context, export []byte, force bool) (warnings []string, err error)
	// Outputs returns the outputs of the stack, without an integrity check. With sealed set no passphrase is needed,
	// and secrets are [property.Value.IsSealed].
	Outputs(ctx context.Context, sealed bool) (property.Map, error)

	// DiscardJournal puts what is left of an operation that was cut off aside, without applying it, and returns where it is
	// now, "" if there is nothing. It takes the lock.
	DiscardJournal(ctx context.Context) (where string, err error)
}

// Editable is a state that commands edit without opening its secrets.
type Editable interface {
	// File names the stack file, for messages.
	File(ctx context.Context) string
	// LoadSealed is Load with secrets left sealed and integrity unchecked: for edits of a state whose passphrase nobody
	// has, and for repairs. What it returns may be given to Save.
	LoadSealed(ctx context.Context) (*state.Snapshot, error)
	// Check returns an [*InvalidStateError] for what LoadSealed has returned if Load would have refused it.
	Check(ctx context.Context, s *state.Snapshot) error
	// Save replaces the state as a state command does: manifest, metadata and pending operations stay as they are in s
	// (state.md 7.10). A snapshot that fails [state.Verify] is refused. The caller holds the lock, and has loaded what s is an edit of:
	// see [Stack].
	Save(ctx context.Context, s *state.Snapshot) error
}

// Lockable is what only one process at a time may write.
type Lockable interface {
	// Lock takes the lock, or returns a [*lock.HeldError]. The closer releases it; closing it again does nothing. If an
	// operation was interrupted, the state is brought up to date first; a [*JournalError] says that this cannot be done.
	Lock(ctx context.Context, o LockOptions) (Lock, error)
}

// Locks are the locks of a stack, whoever has them.
type Locks interface {
	// Locks lists who has the lock. While an operation on this stack and another one has not ended, it lists the locks
	// of both.
	Locks(ctx context.Context) ([]lock.Held, error)
	// BreakLocks removes locks that Locks has listed, and no others: whoever decides about them has seen them. It ends the sessions
	// that hold them, and returns how many locks there were.
	BreakLocks(ctx context.Context, held []lock.Held) (int, error)
}

// Tags are what a stack is labelled with (state.md 7.9).
type Tags interface {
	// Tags returns them.
	Tags(ctx context.Context) (map[string]string, error)
	// EditTags changes the tags. edit may be called several times.
	EditTags(ctx context.Context, edit func(tags map[string]string)) error
}

// History is the record of what has been done to a stack.
type History interface {
	// WriteHistory records a finished operation, with a copy of the stack file, and backs the stack file up
	// (state.md 4.7, 4.8).
	WriteHistory(ctx context.Context, u Update) error
	// History returns the recorded operations, the newest first, and a warning for each that cannot be read.
	History(ctx context.Context) (updates []Update, warnings []string, err error)
	// LastUpdate returns the newest recorded operation that accept accepts, nil if there is none. It reads no older ones, and passes
	// over those that cannot be read.
	LastUpdate(ctx context.Context, accept func(Update) bool) (*Update, error)
}

// LockOptions say what a lock is for.
type LockOptions struct {
	// Operation says in a word what the lock is for: "update". It may be "".
	Operation string
	// OnLost is called, once and by another goroutine, when the lock is lost: another process has broken it, or it could not be
	// renewed. It may be nil.
	OnLost func(error)
}

// Lock is the lock of a stack that this process has.
type Lock interface {
	io.Closer
	// Check returns a [*lock.LostError] when the lock is no longer certainly this process's. The holder calls it before it
	// starts anything that needs the lock.
	Check(ctx context.Context) error
}

// RemoveOptions define what is removed with a stack.
type RemoveOptions struct {
	Force   bool // also remove a stack that has resources
	Backups bool // also remove the .bak files and backups
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
	Project string // "" if it is not known; the stack is left as it is then
	Err     error
}
