package sluice

import (
	"errors"

	"github.com/sluice-iac/sluice/stages/standard"
	"github.com/sluice-iac/sluice/state/backend/workspace"
	"github.com/sluice-iac/sluice/urn"
)

// ProtectedURNs returns the names of the protected resources of a stack and of everything that they depend on: what a destroy
// excludes to leave them (steps.md 6.1 "--exclude-protected"). A stack without state has none.
func ProtectedURNs(s *Snapshot) []urn.URN {
	if s == nil {
		return nil
	}
	return standard.ProtectedAndNeeded(s.Resources)
}

// Selection is the current stack of one project on one backend (state.md 4.12).
type Selection = workspace.Selection

// LocalBackendURL is where state goes when nobody has said anything else: where `pulumi login --local` puts it.
const LocalBackendURL = "file://~"

// Home is Pulumi's home directory, with plugins, credentials and selections: PULUMI_HOME, or ~/.pulumi. lookupEnv reads
// the environment, as [os.LookupEnv] does.
func Home(lookupEnv func(name string) (string, bool)) (string, error) {
	return workspace.Home(lookupEnv)
}

// BackendURL returns the backend to use (state.md 4.1): that of PULUMI_BACKEND_URL, else the one that the project file
// names, which may be "", else the one logged in to, else [LocalBackendURL].
func BackendURL(home, projectURL string, lookupEnv func(name string) (string, bool)) (string, error) {
	url, err := workspace.NewCredentials(home, lookupEnv).BackendURL(lookupEnv, projectURL)
	if errors.Is(err, workspace.ErrNoBackend) {
		return LocalBackendURL, nil
	}
	return url, err
}

// Credentials is the file that names the backend that somebody has logged in to.
type Credentials = workspace.Credentials

// NewCredentials returns the credentials file of a home directory, or of PULUMI_CREDENTIALS_PATH.
func NewCredentials(home string, lookupEnv func(name string) (string, bool)) Credentials {
	return workspace.NewCredentials(home, lookupEnv)
}

// NewSelection returns the selection for a project file, given by its absolute path as it was found, and a backend,
// given by its URL as it was configured.
func NewSelection(home, project, projectFile, backendURL string) Selection {
	return workspace.NewSelection(home, project, projectFile, backendURL)
}

// Notes are what a command line keeps for itself about one stack, for one user.
type Notes = workspace.Notes

// NewNotes returns the notes about a stack, which the URL of its backend, its qualified name and the place where it is kept
// tell from all others. home is what [Home] returns.
func NewNotes(home, backendURL, stack, place string) Notes {
	return workspace.NewNotes(home, backendURL, stack, place)
}
