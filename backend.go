package sluice

import (
	"context"
	"errors"

	"github.com/sluice-iac/sluice/advice"
	"github.com/sluice-iac/sluice/state/backend"
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

// OpenBackend opens a backend. Nothing is written.
func OpenBackend(ctx context.Context, o BackendOptions) (backend.Backend, error) {
	return backend.Open(ctx, backend.Options{
		URL: o.URL, Project: o.Project, Environment: o.LookupEnv, Passphrases: o.Passphrases, Version: manifestVersion,
		SkipIntegrity: o.SkipIntegrity, Stores: o.Stores, Checkpoints: o.Checkpoints, Note: o.Note, Undecided: o.Undecided,
		Renamed: o.Renamed,
	})
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
