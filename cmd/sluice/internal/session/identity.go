package session

import (
	"context"
	"errors"
	"os/user"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
	"github.com/sluice-iac/sluice/host"
	"github.com/sluice-iac/sluice/state/backend"
	"github.com/sluice-iac/sluice/state/backend/service"
	"github.com/sluice-iac/sluice/state/backend/workspace"
)

// Identity describes the user of a backend, in JSON.
type Identity struct {
	User          string   `json:"user"`
	Organizations []string `json:"organizations"`
	URL           string   `json:"url"`
	Token         *Token   `json:"tokenInformation,omitempty"` // nil for that of a person
}

// Token describes an access token that is not a person's.
type Token struct {
	Name         string `json:"name"`
	Organization string `json:"organization,omitempty"`
	Team         string `json:"team,omitempty"`
}

// IdentityAt returns the user of the backend with a URL: at a service the one of the access token.
func IdentityAt(ctx context.Context, t *terminal.Terminal, url string) (Identity, error) {
	who := Identity{User: "unknown", Organizations: []string{}, URL: backend.MaskURL(url)}
	if service.Handles(url) {
		b, err := host.OpenBackend(ctx, host.BackendOptions{URL: url, LookupEnv: t.Lookup, Note: t.WarnWith})
		if err != nil {
			return who, err
		}
		at, err := b.(*service.Backend).WhoAmI(ctx)
		who.User, who.Organizations = at.User, at.Organizations
		if at.Token != nil {
			who.Token = &Token{at.Token.Name, at.Token.Organization, at.Token.Team}
		}
		return who, errors.Join(err, b.Close())
	}
	if u, err := user.Current(); err == nil {
		who.User = u.Username
	}
	return who, nil
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
	return host.BackendURL(home, fromProject, lookup)
}
