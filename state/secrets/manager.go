package secrets

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/state"
)

// Manager encrypts the secrets of one stack. It is safe for concurrent use.
type Manager interface {
	// Provider is the description of the manager in a checkpoint: its type and state (state.md 5.1). Its Identity names
	// the key: see [state.SecretsProvider.Identity]. The result must not be changed.
	Provider() *state.SecretsProvider
	Encrypter() property.Encrypter
	Decrypter() property.Decrypter
}

// The types of secrets providers that occur in state files.
const (
	TypePassphrase = "passphrase"
	TypeCloud      = "cloud"
	TypeService    = "service"
	TypeBase64     = "b64"
)

// UnsupportedProviderError reports that a stack's secrets are encrypted by a provider that this program cannot use.
type UnsupportedProviderError struct{ Type string }

// IsKnown reports whether the type is one that occurs in state files of other programs: see [TypePassphrase].
func (e *UnsupportedProviderError) IsKnown() bool {
	return slices.Contains([]string{TypePassphrase, TypeCloud, TypeService, TypeBase64}, e.Type)
}

func (e *UnsupportedProviderError) Error() string {
	switch e.Type {
	case TypeCloud:
		return "the secrets of this stack are encrypted with a cloud key service, whose driver this program does not have"
	case TypeService:
		return "the secrets of this stack are encrypted by Pulumi's service with a key of the stack there; they can be opened while the " +
			"service is the backend"
	}
	return fmt.Sprintf("no known secrets provider for type %q", e.Type)
}

// FromState returns the manager that a checkpoint names ([state.md 5.2]). With a wrong passphrase the manager is locked:
// it keeps the state and fails with [ErrLocked] when something has to be encrypted or decrypted. A missing passphrase is an
// error that wraps [ErrNoPassphrase], and a provider that cannot be used an [*UnsupportedProviderError]. A nil provider gives
// a nil manager.
//
// [state.md 5.2]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/state.md#52-passphrase
func FromState(ctx context.Context, p *state.SecretsProvider, from Source) (Manager, error) {
	if p == nil {
		return nil, nil
	}
	switch p.Type {
	case TypePassphrase:
		return passphraseFromState(ctx, p, from)
	case TypeCloud:
		return cloudFromState(ctx, p, from)
	case TypeBase64:
		return Plain{}, nil
	case TypeService:
		if from.service != nil {
			return from.service(ctx, p)
		}
	}
	return nil, &UnsupportedProviderError{p.Type}
}

func passphraseFromState(ctx context.Context, p *state.SecretsProvider, from Source) (Manager, error) {
	var s passphraseState
	if err := json.Unmarshal(p.State, &s); err != nil {
		return nil, fmt.Errorf("the state of the passphrase secrets provider: %w", err)
	}
	m, err := openLater(ctx, s.Salt, from)
	if err != nil {
		return nil, err
	}
	m.provider = p // keeps the bytes of the state as they are in the file
	return m, nil
}

// Settings are the parameters of secrets in a stack's configuration file ([state.md 5.1], [state.md 6.3]).
//
// [state.md 5.1]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/state.md#51-where-the-parameters-are
// [state.md 6.3]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/state.md#63-stack-file
type Settings struct {
	Provider     string // secretsprovider
	EncryptedKey string // encryptedkey
	Salt         string // encryptionsalt
}

// Choice is the manager for an operation, with the consequences of the choice.
type Choice struct {
	Manager Manager
	// Save are the settings to write to the configuration file; nil if it has them already.
	Save *Settings
	// Disagrees is true if the state is encrypted by another provider or key than the configuration file names. The
	// state is re-encrypted at the next write (state.md 5.5).
	Disagrees bool
}

// Choose returns the manager for an operation that may write ([state.md 5.5]): the one that the configuration file names,
// else the one in the state, else a new passphrase. A wrong passphrase is an error that wraps [ErrIncorrectPassphrase].
// The user is asked for a passphrase only when a secret needs it.
//
// [state.md 5.5]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/state.md#55-which-manager
func Choose(ctx context.Context, settings Settings, recorded *state.SecretsProvider, from Source) (Choice, error) {
	switch {
	case !IsPassphrase(settings.Provider):
		return chooseCloud(ctx, settings, recorded, from)
	case settings.Salt != "":
		m, err := openAsking(ctx, settings.Salt, from)
		if err != nil {
			return Choice{}, err
		}
		return m.chosen(recorded), nil
	case recorded != nil:
		m, err := FromState(ctx, recorded, from)
		if err != nil {
			return Choice{}, err
		}
		c := Choice{Manager: m}
		switch m := m.(type) {
		case *Passphrase:
			if !from.asks(m.Salt()) {
				if err := m.Unlock(); err != nil {
					return Choice{}, err
				}
			}
			c.Save = &Settings{Provider: settings.Provider, Salt: m.Salt()}
		case *Cloud:
			now := m.Settings()
			c.Save = &now
		}
		return c, nil
	}
	m, err := New(ctx, from)
	if err != nil {
		return Choice{}, err
	}
	return Choice{Manager: m, Save: &Settings{Provider: settings.Provider, Salt: m.Salt()}}, nil
}
