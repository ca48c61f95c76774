package sluice

import (
	"errors"

	"github.com/sluice-iac/sluice/stages/standard"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/state/backend/workspace"
	"github.com/sluice-iac/sluice/urn"
)

// ProtectedURNs returns the names of the protected resources of a stack and of everything that they depend on: what a destroy
// excludes to leave them (steps.md 6.1 "--exclude-protected"). A stack without state has none.
func ProtectedURNs(s *state.Snapshot) []urn.URN {
	if s == nil {
		return nil
	}
	return standard.ProtectedAndNeeded(s.Resources)
}

// LocalBackendURL is where state goes when nobody has said anything else: where `pulumi login --local` puts it.
const LocalBackendURL = "file://~"

// BackendURL returns the backend to use (state.md 4.1): that of PULUMI_BACKEND_URL, else the one that the project file
// names, which may be "", else the one logged in to, else [LocalBackendURL].
func BackendURL(home, projectURL string, lookupEnv func(name string) (string, bool)) (string, error) {
	url, err := workspace.NewCredentials(home, lookupEnv).BackendURL(lookupEnv, projectURL)
	if errors.Is(err, workspace.ErrNoBackend) {
		return LocalBackendURL, nil
	}
	return url, err
}
