package backend

import (
	"context"
	"io"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/state/lock"
	"github.com/sluice-iac/sluice/state/secrets"
)

// Backend keeps the states of stacks. It is safe for concurrent use. Code that needs only a part of it takes one of the
// smaller interfaces.
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
	// change too. It returns a [*NotFoundError] or an [*ExistsError]. Sealed secrets stay sealed. An interrupted rename is
	// completed when one of the two names is opened or locked next.
	Rename(ctx context.Context, from, to Ref) (Stack, error)
	// Upgrade converts a store of the old layout to the present one (state.md 7.10). The project of a stack is the one in
	// the URNs of its resources; ask is called for a stack without resources, and may return "" to leave it as it is. ask
	// may be nil.
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
	// DefaultSecrets is the manager of a stack for which no secrets provider was chosen, nil if that is a passphrase.
	DefaultSecrets(ref Ref) secrets.Manager
	// Close closes connections. No method may be called afterwards.
	Close() error
}

// Catalog lists and resolves stacks.
type Catalog interface {
	// Organization is the organization of names that contain none.
	Organization() string
	// Resolve returns the stack that a user's text names: "S", "organization/S" or "organization/P/S" (state.md 4.4). It
	// does not check whether the stack exists.
	Resolve(name string) (Ref, error)
	// Stacks lists the stacks that match a filter, in the order of project and name. An interrupted operation on one of them is recovered
	// first, as when it is opened.
	Stacks(ctx context.Context, f Filter) ([]Listing, error)
}

// Filter selects the stacks of a list. The zero value selects all.
type Filter struct {
	Project, Organization string // "" is any
	Tag                   string // the name of a tag that they must have; "" is no condition
	Value                 string // of the tag; "" is any
}

// Stack is one stack of a backend. It is safe for concurrent use, but only the holder of its lock may write. Code that needs only a
// part of it takes one of the smaller interfaces.
//
// Reads include the journal of an operation that is running or could not be recovered; a note is given then.
//
// As a [state.Store], it loads the state with secrets opened and integrity checked. Errors of Load are a [*CorruptError] or an
// [*InvalidStateError] and name the file. Once the lock is released or lost, a
// recorder begins nothing more.
//
// Record, Save and SaveMove write nothing and return
//   - a [*NotLockedError] unless Lock was called on this value or on one that differs from it only by WithSecrets,
//   - a [*lock.LostError] if this process has lost that lock,
//   - a [*RecordingError] while a recording is open,
//   - a [*StaleStateError] unless the snapshot, or the one that it is an edit or a copy of, was loaded from the present content of
//     the stack file. A stack that was never deployed also accepts a new snapshot.
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
	// WithSecrets returns the same stack, whose writes encrypt with m. Without it, writes use the provider that the state
	// names.
	WithSecrets(m secrets.Manager) Stack
	// Readable returns the same stack in a lenient form: a secret that cannot be opened is an unavailable value (see
	// [property.Unavailable]) instead of an error. A snapshot loaded from it cannot be saved.
	Readable() Stack
	// SecretsProvider is the provider that the stack file names; nil if it names none.
	SecretsProvider(ctx context.Context) (*state.SecretsProvider, error)

	// SaveMove is Save for this stack and for another one of the same backend, to which resources of this one have moved. The caller holds both locks,
	// and has loaded both states. An interrupted SaveMove is completed when one of the two stacks is opened or locked next, so that each resource is in
	// one of them.
	SaveMove(ctx context.Context, s *state.Snapshot, dest Stack, destState *state.Snapshot) error

	// Export returns the deployment as `stack export` prints it (state.md 7.6).
	Export(ctx context.Context, showSecrets bool) ([]byte, error)
	// ExportVersion is Export for the state after an operation of the history. The oldest operation has the number 1. The error
	// is a [*VersionError] if that state is not kept.
	ExportVersion(ctx context.Context, version int, showSecrets bool) ([]byte, error)
	// Import replaces the state by an export and returns warnings for the user. It takes the lock.
	Import(ctx context.Context, export []byte, force bool) (warnings []string, err error)
	// Outputs returns the outputs of the stack, without an integrity check. With sealed set no passphrase is needed,
	// and secrets are [property.Value.IsSealed].
	Outputs(ctx context.Context, sealed bool) (property.Map, error)

	// DiscardJournal sets the remains of an interrupted operation aside, without applying them, and returns their new
	// place, "" if there are none. It takes the lock.
	DiscardJournal(ctx context.Context) (where string, err error)
}

// Side is a kind of content that is kept beside the state of a stack. It is no part of the state, and may be lost at any time.
type Side string

const (
	Answers   Side = "answers" // the answers that providers gave in earlier operations
	ReadTimes Side = "reads"   // when each resource was last read
)

// Sides are all kinds of content beside a state.
func Sides() []Side { return []Side{Answers, ReadTimes} }

// SideKeeper is a stack with a place beside its state for content of each kind.
type SideKeeper interface {
	// ReadSide returns what is kept, nil if there is nothing, and a revision that identifies it.
	ReadSide(ctx context.Context, kind Side) (content []byte, revision string, err error)
	// WriteSide replaces what is kept if it still has the revision, "" if nothing was kept, and reports whether it did.
	WriteSide(ctx context.Context, kind Side, content []byte, revision string) (replaced bool, err error)
	// RemoveSide removes what is kept.
	RemoveSide(ctx context.Context, kind Side) error
}

// Editable is a state that commands can edit without opening its secrets.
type Editable interface {
	// File names the stack file, for messages.
	File(ctx context.Context) string
	// LoadSealed is Load with secrets left sealed and integrity unchecked: for edits of a state without its passphrase,
	// and for repairs. The snapshot may be passed to Save.
	LoadSealed(ctx context.Context) (*state.Snapshot, error)
	// Check returns an [*InvalidStateError] for a snapshot of LoadSealed that Load would have refused.
	Check(ctx context.Context, s *state.Snapshot) error
	// Save replaces the state as a state command does: manifest, metadata and pending operations stay as they are in s (state.md 7.10).
	// A snapshot that fails [state.Verify] is refused. The caller holds the lock, and has loaded the snapshot that s is an edit of: see
	// [Stack].
	Save(ctx context.Context, s *state.Snapshot) error
}

// Lockable is a stack that only one process at a time may write.
type Lockable interface {
	// Lock takes the lock, or returns a [*lock.HeldError]. The closer releases it; closing it again does nothing. If an
	// operation was interrupted, the state is brought up to date first; the error is a [*JournalError] if this cannot be
	// done.
	Lock(ctx context.Context, o LockOptions) (Lock, error)
}

// Locks are the locks of a stack, whoever holds them.
type Locks interface {
	// Locks lists the holders of the lock. While an operation on this stack and another one has not ended, it lists the
	// locks of both.
	Locks(ctx context.Context) ([]lock.Held, error)
	// BreakLocks removes the given locks, which Locks has listed, and no others, so that the user has seen every removed lock. It
	// ends the sessions that hold them, and returns how many locks there were.
	BreakLocks(ctx context.Context, held []lock.Held) (int, error)
}

// Tags are the labels of a stack ([state.md 7.9]).
//
// [state.md 7.9]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/state.md#79-stack-history-stack-tag-stack-graph-stack
type Tags interface {
	// Tags returns the tags.
	Tags(ctx context.Context) (map[string]string, error)
	// EditTags changes the tags. edit may be called several times.
	EditTags(ctx context.Context, edit func(tags map[string]string)) error
}

// History is the record of the operations on a stack.
type History interface {
	// WriteHistory records a finished operation, with a copy of the stack file, and backs the stack file up
	// (state.md 4.7, 4.8).
	WriteHistory(ctx context.Context, u Update) error
	// History returns the recorded operations, the newest first, and a warning for each that cannot be read.
	History(ctx context.Context) (updates []Update, warnings []string, err error)
	// LastUpdate returns the newest recorded operation for which accept returns true, nil if there is none. It reads no older ones,
	// and skips those that cannot be read.
	LastUpdate(ctx context.Context, accept func(Update) bool) (*Update, error)
}

// LockOptions describe the use of a lock.
type LockOptions struct {
	// Operation is a word for the purpose of the lock, such as "update". It may be "".
	Operation string
	// OnLost is called, once and by another goroutine, when the lock is lost: another process has broken it, or it could not be
	// renewed. It may be nil.
	OnLost func(error)
}

// Lock is a lock of a stack that this process holds.
type Lock interface {
	io.Closer
	// Check returns a [*lock.LostError] when it is no longer certain that this process holds the lock. The holder calls it
	// before it starts anything that needs the lock.
	Check(ctx context.Context) error
}

// RemoveOptions define which files are removed with a stack.
type RemoveOptions struct {
	Force   bool // also remove a stack that has resources
	Backups bool // also remove the .bak files and backups
}

// Listing is one stack in a list ([state.md 7.4]).
//
// [state.md 7.4]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/state.md#74-stack-ls
type Listing struct {
	Ref     Ref
	Summary state.Summary
	Err     error // the stack file is corrupt; the summary is empty then
}

// Upgraded is the result of an upgrade for one stack of the old layout.
type Upgraded struct {
	Name    string
	Project string // "" if it is not known; the stack is left as it is then
	Err     error
}
