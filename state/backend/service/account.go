package service

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/sluice-iac/sluice/state/backend/service/internal/api"
	"github.com/sluice-iac/sluice/state/backend/workspace"
)

// Identity describes the owner of an access token.
type Identity struct {
	User          string
	Organizations []string
	Token         *TokenInfo // nil for the token of a person
}

// TokenInfo describes a token that is not a person's.
type TokenInfo struct{ Name, Organization, Team string }

// Login finds the owner of a token at the service with the URL of the options, and writes both into the credentials file, which makes
// the service the current backend. insecure switches off the verification of the service's certificate, now and later.
func Login(ctx context.Context, o Options, token string, insecure bool) (Identity, error) {
	client, err := newClient(o, token, insecure)
	if err != nil {
		return Identity{}, err
	}
	defer client.Close()
	user, err := client.User(ctx)
	if err != nil {
		return Identity{}, err
	}
	who := identityOf(user)
	account := workspace.Account{
		AccessToken: token, Username: who.User, Organizations: who.Organizations, LastValidatedAt: time.Now().UTC(), Insecure: insecure,
	}
	if t := user.Token; t != nil {
		account.TokenInformation = &workspace.TokenInformation{Name: t.Name, Organization: t.Organization, Team: t.Team}
	}
	if err := workspace.NewCredentials(o.Home, o.lookup()).LoginToService(Address(o.URL), account); err != nil {
		return Identity{}, fmt.Errorf("write the access token: %w", err)
	}
	return who, nil
}

func identityOf(u api.User) Identity {
	who := Identity{User: u.Login, Organizations: []string{}}
	for _, o := range u.Organizations {
		who.Organizations = append(who.Organizations, o.Login)
	}
	if t := u.Token; t != nil {
		who.Token = &TokenInfo{t.Name, t.Organization, t.Team}
	}
	return who
}

// MayAskForToken reports whether err means that the service needs an access token, or another one.
func MayAskForToken(err error) bool {
	return errors.Is(err, ErrLoggedOut) || api.Is(err, http.StatusUnauthorized)
}
