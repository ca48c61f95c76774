package session

import (
	"context"
	"errors"
	"fmt"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/state/backend"
	"github.com/sluice-iac/sluice/state/secrets"
)

// Make makes a stack, prints that it did, and selects the stack if selectIt is set.
func Make(ctx context.Context, in *Session, name, provider string, selectIt bool) (*Stack, error) {
	if err := secrets.CheckProvider(provider, in.Passphrases); err != nil {
		return nil, exit.Usagef("%w", err)
	}
	s, err := Init(ctx, in, name, provider)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(in.Terminal.Out, "Created stack '%s'\n", s.Name())
	if selectIt {
		err = s.Session.Selection.Select(s.Ref.String())
	}
	return s, err
}

// Init makes a stack: its state, then the secrets parameters in its settings (state.md 7.2).
func Init(ctx context.Context, in *Session, name, provider string) (*Stack, error) {
	ref, err := in.Resolve(name)
	if err != nil {
		return nil, err
	}
	if !in.Owns(ref) {
		return nil, in.foreign(ref)
	}
	s := &Stack{Session: in, Ref: ref}
	if err := s.ReadSettings(""); err != nil {
		return nil, err
	}
	// Check that the stack does not exist before the user has to type a passphrase.
	var missing *backend.NotFoundError
	if _, err := in.Backend.Open(ctx, ref); err == nil {
		return nil, &backend.ExistsError{Name: s.Name()}
	} else if !errors.As(err, &missing) {
		return nil, err
	}
	if !secrets.IsPassphrase(provider) && s.Settings.SecretsProvider() != provider {
		if s.Settings.HasSecrets() {
			return nil, fmt.Errorf("%s has secrets under another key; make the stack with that, and then use `sluice stack change-secrets-provider`", s.Settings.Path)
		}
		s.Settings.SetSecrets(provider, "", "")
	}
	if provider == secrets.TypePassphrase && in.Backend.DefaultSecrets(ref) != nil && s.Settings.EncryptionSalt() == "" {
		s.Settings.SetSecrets(provider, "", "") // if a passphrase is not the default
	}
	manager, err := SecretsManager(ctx, s)
	if err != nil {
		return nil, err
	}
	if s.State, err = in.Backend.Init(ctx, ref, manager); err != nil {
		return nil, err
	}
	return s, s.Settings.Save()
}
