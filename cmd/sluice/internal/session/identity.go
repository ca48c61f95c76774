package session

import (
	"os/user"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/state/backend"
	"github.com/sluice-iac/sluice/state/backend/workspace"
)

// Identity describes the user of a backend, in JSON.
type Identity struct {
	User          string   `json:"user"`
	Organizations []string `json:"organizations"`
	URL           string   `json:"url"`
}

// IdentityAt returns the user of the backend with a URL.
func IdentityAt(url string) Identity {
	who := Identity{User: "unknown", Organizations: []string{}, URL: backend.MaskURL(url)}
	if u, err := user.Current(); err == nil {
		who.User = u.Username
	}
	return who
}

// BackendURL returns the URL of the backend that is used here. The project, if there is one, may name it.
func BackendURL(lookup func(name string) (string, bool)) (string, error) {
	home, err := workspace.Home(lookup)
	if err != nil {
		return "", err
	}
	var fromProject string
	if project, err := FindProject(); err == nil {
		fromProject = project.BackendURL
	}
	return sluice.BackendURL(home, fromProject, lookup)
}
