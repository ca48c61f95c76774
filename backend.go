package sluice

import (
	"context"

	"github.com/sluice-iac/sluice/state/backend"
	"github.com/sluice-iac/sluice/state/lock"
	"github.com/sluice-iac/sluice/state/secrets"
	"github.com/sluice-iac/sluice/state/store"
)

// Where stacks are kept. The types are those of packages backend, lock and secrets, named here so that callers need only
// this package.
type (
	// Backend is a place where the states of stacks are kept.
	Backend = backend.Backend
	// Stack is one stack of a backend. It is a [StateStore].
	Stack = backend.Stack
	// StackRef names a stack of a backend.
	StackRef = backend.Ref
	// UpgradedStack says what has become of a stack of the old layout.
	UpgradedStack = backend.Upgraded
	// StackListing is one stack in a list.
	StackListing = backend.Listing
	// StackRemoval says what goes with a stack that is removed.
	StackRemoval = backend.RemoveOptions
	// HistoryEntry is the record of one operation.
	HistoryEntry = backend.Update
	// StackNotFoundError says that there is no such stack.
	StackNotFoundError = backend.NotFoundError
	// StackExistsError says that a stack of that name exists.
	StackExistsError = backend.ExistsError
	// StackNotEmptyError says that a stack that is to be removed has resources.
	StackNotEmptyError = backend.NotEmptyError
	// StackLock is the lock of a stack that this process has.
	StackLock = backend.Lock
	// StackLockOptions say what a lock is for.
	StackLockOptions = backend.LockOptions
	// StackLockLife says what is known of the process that has a lock.
	StackLockLife = lock.Life
	// StackLockLostError says that a lock is no longer certainly this process's.
	StackLockLostError = lock.LostError
	// StackLockedError says who has the lock of a stack.
	StackLockedError = lock.HeldError
	// StackJournalError says that an operation on a stack was cut off and left a journal that may not be applied.
	StackJournalError = backend.JournalError
	// CheckpointCadence says how often an operation writes the stack file.
	CheckpointCadence = backend.Cadence
)

// How often an operation writes the stack file.
const (
	CheckpointsTimed     = backend.CheckpointsTimed
	CheckpointsEveryStep = backend.CheckpointsEveryStep
	CheckpointsAtEnd     = backend.CheckpointsAtEnd
)

// What can be known of the process that has a lock.
const (
	LockLifeUnknown = lock.LifeUnknown
	LockAlive       = lock.Alive
	LockDead        = lock.Dead
)

// The results of a [HistoryEntry].
const (
	HistorySucceeded = backend.ResultSucceeded
	HistoryFailed    = backend.ResultFailed
)

// How secrets are encrypted.
type (
	// SecretsManager encrypts the secrets of one stack.
	SecretsManager = secrets.Manager
	// SecretsSettings are what a stack's configuration file says of secrets.
	SecretsSettings = secrets.Settings
	// SecretsChoice is the manager for an operation and how it was chosen.
	SecretsChoice = secrets.Choice
	// Passphrases says where passphrases come from, and remembers keys.
	Passphrases = secrets.Source
	// PassphrasePrompt asks somebody for a passphrase.
	PassphrasePrompt = secrets.Prompt
)

// Errors about passphrases.
var (
	// ErrIncorrectPassphrase is wrapped by the error for a passphrase that does not fit.
	ErrIncorrectPassphrase = secrets.ErrIncorrectPassphrase
	// ErrNoPassphrase is wrapped by the error for a passphrase that nobody gave.
	ErrNoPassphrase = secrets.ErrNoPassphrase
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
	Passphrases Passphrases
	// SkipIntegrity loads states that fail the integrity check.
	SkipIntegrity bool
	// Stores opens URLs of other schemes than file, by scheme: what package cloud has, or one of your own.
	Stores map[string]StoreOpener
	// Checkpoints says how often an operation writes the stack file.
	Checkpoints CheckpointCadence
	// Note is told, in one line, what was found of an operation that was cut off; nil when nobody listens.
	Note func(text string)
	// Undecided is told of a journal that nobody may apply without a decision, when a stack is opened. Whoever locks the stack
	// gets the same error. Nil means Note.
	Undecided func(*StackJournalError)
	// Renamed is told that a stack has another name, by whoever renamed it or has completed a rename that was cut off, so that
	// what names the stack outside the backend can follow. It may be told so again. remark is for the user, who has something
	// to do; it may be "". The stack is renamed whatever is returned. nil when nobody listens.
	Renamed func(from, to StackRef) (remark string, err error)
}

// StoreOpener opens what a backend keeps its files in.
type StoreOpener = store.Opener

// OpenBackend opens a backend. Nothing is written.
func OpenBackend(ctx context.Context, o BackendOptions) (Backend, error) {
	return backend.Open(ctx, backend.Options{
		URL: o.URL, Project: o.Project, Environment: o.LookupEnv, Passphrases: o.Passphrases, Version: manifestVersion,
		SkipIntegrity: o.SkipIntegrity, Stores: o.Stores, Checkpoints: o.Checkpoints, Note: o.Note, Undecided: o.Undecided,
		Renamed: o.Renamed,
	})
}

// NewPassphrases makes the source of passphrases of a process: PULUMI_CONFIG_PASSPHRASE, the file that
// PULUMI_CONFIG_PASSPHRASE_FILE names, or the prompt, which may be nil (state.md 5.2).
func NewPassphrases(lookupEnv func(name string) (string, bool), prompt PassphrasePrompt) Passphrases {
	return secrets.NewSource(lookupEnv, prompt)
}

// NewSecretsManager makes a manager with a new key, of the provider that a text names: "default", "passphrase" or the URL of
// a key service (state.md 5.8). The second result is what the configuration file has to say of it.
func NewSecretsManager(ctx context.Context, provider string, from Passphrases) (SecretsManager, SecretsSettings, error) {
	return secrets.NewManager(ctx, provider, from)
}

// CheckSecretsProvider returns an error for a text that names no secrets provider.
func CheckSecretsProvider(provider string, from Passphrases) error {
	return secrets.CheckProvider(provider, from)
}

// IsPassphraseProvider tells whether a text names the secrets provider with a passphrase.
func IsPassphraseProvider(provider string) bool { return secrets.IsPassphrase(provider) }

// ChooseSecretsManager returns the manager for an operation on a stack (state.md 5.5): the one that its configuration
// file names, else the one recorded in its state, which is nil for none, else a new passphrase.
func ChooseSecretsManager(ctx context.Context, s SecretsSettings, recorded *SecretsProvider, from Passphrases) (SecretsChoice, error) {
	return secrets.Choose(ctx, s, recorded, from)
}

// RecordedSecretsSettings is what a configuration file has to say of the secrets provider that a state names, if that is one
// whose parameters such a file has.
func RecordedSecretsSettings(p *SecretsProvider) (s SecretsSettings, known bool) {
	return secrets.SettingsOf(p)
}

// MaskURL is the URL of a backend without the credentials in it, for messages.
func MaskURL(url string) string { return backend.MaskURL(url) }
