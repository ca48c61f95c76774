package secrets

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/sluice-iac/sluice/state"
)

// UnknownProviderError reports that there is no such kind of secrets provider.
type UnknownProviderError struct{ Kind string }

func (e *UnknownProviderError) Error() string {
	return fmt.Sprintf("unknown secrets provider type '%s': write default, passphrase, or a URL that begins with %s",
		e.Kind, strings.Join(cloudSchemes(), "://, ")+"://")
}

// CheckProvider returns an [*UnknownProviderError] for a text that names no secrets provider, as in `stack init
// --secrets-provider` ([state.md 5.8]).
//
// [state.md 5.8]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/state.md#58-changing-the-provider
func CheckProvider(text string, from Source) error {
	if IsPassphrase(text) {
		return nil
	}
	_, err := from.keeper(text)
	return err
}

// IsPassphrase reports whether a text names the provider with a passphrase, which is the default one.
func IsPassphrase(text string) bool { return text == "" || text == "default" || text == TypePassphrase }

// NewManager makes a manager with a new key, of the provider that a text names: "default", "passphrase" or the URL of a key
// service ([state.md 5.8]). The second result is for the configuration file.
//
// [state.md 5.8]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/state.md#58-changing-the-provider
func NewManager(ctx context.Context, text string, from Source) (Manager, Settings, error) {
	if IsPassphrase(text) {
		m, err := New(ctx, from)
		if err != nil {
			return nil, Settings{}, err
		}
		return m, Settings{Salt: m.Salt()}, nil
	}
	m, err := NewCloud(ctx, text, from)
	if err != nil {
		return nil, Settings{}, err
	}
	return m, m.Settings(), nil
}

// SettingsOf returns the settings in a configuration file for the provider that a state names. known is false if such a
// provider has no parameters there.
func SettingsOf(p *state.SecretsProvider) (s Settings, known bool) {
	if p == nil {
		return Settings{}, false
	}
	switch p.Type {
	case TypePassphrase:
		var recorded passphraseState
		known = json.Unmarshal(p.State, &recorded) == nil && recorded.Salt != ""
		return Settings{Salt: recorded.Salt}, known
	case TypeCloud:
		var recorded cloudState
		known = json.Unmarshal(p.State, &recorded) == nil && recorded.URL != ""
		return Settings{Provider: recorded.URL, EncryptedKey: recorded.EncryptedKey}, known
	}
	return Settings{}, false
}
