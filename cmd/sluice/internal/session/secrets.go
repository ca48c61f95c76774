package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/workspace"
	"github.com/sluice-iac/sluice/host"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/state/backend"
	"github.com/sluice-iac/sluice/state/backend/service"
	"github.com/sluice-iac/sluice/state/secrets"
)

// serviceKeys returns the opener of secrets that were encrypted by a service other than the backend. The address of that service comes from the
// state, so it does not get the access token of the environment, which is for the backend: it only gets a token from a login at that address.
func serviceKeys(t *terminal.Terminal) secrets.ServiceOpener {
	lookup := func(name string) (string, bool) {
		if name == service.EnvToken {
			return "", false
		}
		return t.Lookup(name)
	}
	return func(ctx context.Context, p *state.SecretsProvider) (secrets.Manager, error) {
		var at struct{ URL string }
		if err := json.Unmarshal(p.State, &at); err != nil {
			return nil, fmt.Errorf("the state of the service's secrets provider: %w", err)
		}
		if !service.Handles(at.URL) {
			return nil, &secrets.UnsupportedProviderError{Type: p.Type}
		}
		b, err := host.OpenBackend(ctx, host.BackendOptions{URL: at.URL, LookupEnv: lookup, Note: t.WarnWith})
		if errors.Is(err, service.ErrLoggedOut) {
			return nil, fmt.Errorf("the secrets are encrypted by the service at %s, and there is no login for it: use `sluice login` for that, and then choose this backend again",
				backend.MaskURL(at.URL))
		}
		if err != nil {
			return nil, err
		}
		return secrets.FromState(ctx, p, b.Passphrases())
	}
}

// SecretsManager returns the manager for an operation that may write. It stores new parameters of the manager in the
// settings (state.md 5.5). The caller has read the settings and has to save them.
func SecretsManager(ctx context.Context, s *Stack) (secrets.Manager, error) {
	var recorded *state.SecretsProvider
	if s.State != nil { // otherwise the stack is being created
		var err error
		if recorded, err = s.State.SecretsProvider(ctx); err != nil {
			return nil, err
		}
	}
	return managerBeside(ctx, s, recorded)
}

// ReplacingSecretsManager is [SecretsManager] for a command that replaces the state as a whole. If that cannot be read, the settings alone name the
// manager.
func ReplacingSecretsManager(ctx context.Context, s *Stack) (secrets.Manager, error) {
	m, err := SecretsManager(ctx, s)
	if errors.As(err, new(*backend.CorruptError)) {
		return managerBeside(ctx, s, nil)
	}
	return m, err
}

// managerBeside returns the manager for a state that records this one; nil if it records none.
func managerBeside(ctx context.Context, s *Stack, recorded *state.SecretsProvider) (secrets.Manager, error) {
	choice, err := choose(ctx, s, secrets.Settings{
		Provider: s.Settings.SecretsProvider(), EncryptedKey: s.Settings.EncryptedKey(), Salt: s.Settings.EncryptionSalt(),
	}, recorded)
	switch {
	case errors.Is(err, secrets.ErrIncorrectPassphrase):
		return nil, fmt.Errorf("wrong passphrase for stack '%s' (%s): %w", s.Name(), s.encryptedIn(ctx), s.Keys().Locked())
	case errors.Is(err, secrets.ErrNoPassphrase):
		return nil, fmt.Errorf("no passphrase for stack '%s' (%s): %w", s.Name(), s.encryptedIn(ctx), err)
	case err != nil:
		return nil, err
	}
	if choice.Disagrees {
		s.Session.Terminal.Warn("the state of %s is encrypted with other secrets parameters than %s names; it will be re-encrypted",
			s.Name(), s.Settings.Path)
	}
	if choice.Save != nil {
		s.Settings.SetSecrets(choice.Save.Provider, choice.Save.EncryptedKey, choice.Save.Salt)
	}
	return choice.Manager, nil
}

// choose returns the manager that the settings name or, if they name none, that of the backend.
func choose(ctx context.Context, s *Stack, settings secrets.Settings, recorded *state.SecretsProvider) (secrets.Choice, error) {
	usual := s.Session.Backend.DefaultSecrets(s.Ref)
	named := settings.Provider != "" && settings.Provider != "default"
	if usual == nil || named || settings.Salt != "" || recorded != nil && recorded.Type != secrets.TypeService {
		return secrets.Choose(ctx, settings, recorded, s.Keys())
	}
	return secrets.Choice{Manager: usual, Disagrees: recorded != nil && recorded.Identity() != usual.Provider().Identity()}, nil
}

// SettingsDecrypter returns the decrypter for the settings of a stack.
func SettingsDecrypter(ctx context.Context, s *Stack) (workspace.Decrypter, error) {
	m, err := SecretsManager(ctx, s)
	if err != nil {
		return nil, err
	}
	return m.Decrypter(), nil
}

// NoteDecryption records in the backend that a secret setting was shown, or which command has shown secrets, if the backend records that. It ignores
// errors, as the secrets have been shown already.
func NoteDecryption(ctx context.Context, s *Stack, setting, command string) {
	if a, records := s.State.(backend.Auditor); records {
		_ = a.NoteDecryption(ctx, setting, command)
	}
}

// SettingsEncrypter returns the encrypter for the settings of a stack. Saving the settings also saves new secrets
// parameters.
func SettingsEncrypter(ctx context.Context, s *Stack) (workspace.Encrypter, error) {
	m, err := SecretsManager(ctx, s)
	if err != nil {
		return nil, err
	}
	return m.Encrypter(), nil
}
