package seal

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/sluice-iac/sluice/cloud"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/state/secrets"
)

// Wrapped is a key that is encrypted with a passphrase or a key service, like the secrets of a stack.
type Wrapped struct {
	Provider     string // passphrase, or the URL of a key service
	Salt         string // of a passphrase
	EncryptedKey string // the data key, encrypted by the key service
	Sealed       string // the key, encrypted with the passphrase or the data key
}

// source returns sluice's source of passphrases and key services.
func source(lookup func(string) (string, bool)) secrets.Source {
	return secrets.NewSource(lookup, nil).WithKeepers(cloud.Keepers())
}

// Wrap makes a key and encrypts it.
func Wrap(ctx context.Context, lookup func(string) (string, bool), provider string) (Wrapped, error) {
	m, settings, err := secrets.NewManager(ctx, provider, source(lookup))
	if err != nil {
		return Wrapped{}, err
	}
	sealed, err := m.Encrypter().Encrypt(ctx, NewKey().String())
	return Wrapped{Provider: provider, Salt: settings.Salt, EncryptedKey: settings.EncryptedKey, Sealed: sealed}, err
}

func (w *Wrapped) open(ctx context.Context, lookup func(string) (string, bool)) (Key, error) {
	kind, record := secrets.TypeCloud, map[string]string{"url": w.Provider, "encryptedkey": w.EncryptedKey}
	if secrets.IsPassphrase(w.Provider) {
		kind, record = secrets.TypePassphrase, map[string]string{"salt": w.Salt}
	}
	text, err := json.Marshal(record)
	if err != nil {
		return nil, err
	}
	m, err := secrets.FromState(ctx, &state.SecretsProvider{Type: kind, State: text}, source(lookup))
	if err != nil {
		return nil, fmt.Errorf("the key of the fleet in fleet.yaml: %w", err)
	}
	key, err := m.Decrypter().Decrypt(ctx, w.Sealed)
	if err != nil {
		return nil, fmt.Errorf("the key of the fleet in fleet.yaml cannot be opened with %s: %w", w.Provider, err)
	}
	return parse("the key in fleet.yaml", key)
}
