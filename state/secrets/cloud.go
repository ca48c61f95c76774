package secrets

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/sluice-iac/sluice/pipeline/await"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/state"
)

// EnvCloudOverride is the variable whose key service replaces the recorded one in one run ([state.md 5.4]).
//
// [state.md 5.4]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/state.md#54-key-services
const EnvCloudOverride = "PULUMI_CLOUD_SECRET_OVERRIDE"

// Keeper encrypts data keys: a key of a cloud's key service. It is the Keeper of gocloud.dev/secrets.
type Keeper interface {
	Encrypt(ctx context.Context, plaintext []byte) ([]byte, error)
	Decrypt(ctx context.Context, ciphertext []byte) ([]byte, error)
	Close() error
}

// KeeperOpener opens the key that a URL names. lookup reads the environment, as [os.LookupEnv] does.
type KeeperOpener func(ctx context.Context, url string, lookup func(name string) (string, bool)) (Keeper, error)

// Cloud is the manager whose data key is encrypted by a key service ([state.md 5.4]). All secrets are encrypted here, with the
// data key: the service is called once in a run, when the first secret needs it.
//
// [state.md 5.4]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/state.md#54-key-services
type Cloud struct {
	url, encryptedKey string
	provider          *state.SecretsProvider
	key               func() (*Key, error)
}

var _ Manager = (*Cloud)(nil)

type cloudState struct {
	URL          string `json:"url"`
	EncryptedKey string `json:"encryptedkey"`
}

// azureScheme is the scheme of the service whose ciphertexts are encoded once more.
const azureScheme = "azurekeyvault"

// NewCloud makes a manager with a new data key. The key service encrypts it, and decrypts it again, so that the secrets can certainly be opened
// later.
func NewCloud(ctx context.Context, url string, from Source) (*Cloud, error) {
	raw := NewRawKey()
	var encrypted []byte
	err := from.withKeeper(ctx, url, func(k Keeper) (err error) {
		if encrypted, err = k.Encrypt(ctx, raw); err != nil {
			return err
		}
		again, err := k.Decrypt(ctx, encrypted)
		if err == nil && !bytes.Equal(raw, again) {
			err = errors.New("it decrypts its own ciphertext to another text")
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if schemeOf(url) == azureScheme {
		encrypted = []byte(base64.RawURLEncoding.EncodeToString(encrypted))
	}
	k, err := NewKey(raw)
	if err != nil {
		return nil, err
	}
	return newCloud(url, base64.StdEncoding.EncodeToString(encrypted), func() (*Key, error) { return k, nil }), nil
}

// openCloud makes the manager for a recorded data key, which the service decrypts when a secret needs it.
func openCloud(ctx context.Context, url, encryptedKey string, from Source) (*Cloud, error) {
	encrypted, err := base64.StdEncoding.DecodeString(encryptedKey)
	if err != nil {
		return nil, fmt.Errorf("the encrypted key of the secrets provider %s: %w", url, err)
	}
	if schemeOf(url) == azureScheme {
		encrypted = decodeAzure(encrypted)
	}
	if _, err := from.keeper(url); err != nil {
		return nil, err
	}
	later := context.WithoutCancel(ctx)
	decrypt := func() (k *Key, err error) {
		err = from.withKeeper(later, url, func(keeper Keeper) error {
			raw, err := keeper.Decrypt(later, encrypted)
			if err != nil {
				return err
			}
			if len(raw) != keyLength {
				return fmt.Errorf("the data key has %d bytes instead of %d", len(raw), keyLength)
			}
			k, err = NewKey(raw)
			return err
		})
		return k, err
	}
	var keys await.Flight[struct{}, *Key] // it keeps no error, because the service may answer the next time
	return newCloud(url, encryptedKey, func() (*Key, error) { return keys.Do(later, struct{}{}, decrypt) }), nil
}

// decodeAzure undoes the encoding of the ciphertext. One release of Pulumi has not encoded it.
func decodeAzure(encrypted []byte) []byte {
	if raw, err := base64.RawURLEncoding.DecodeString(string(encrypted)); err == nil {
		return raw
	}
	return encrypted
}

func newCloud(url, encryptedKey string, k func() (*Key, error)) *Cloud {
	s, err := json.Marshal(cloudState{url, encryptedKey})
	if err != nil {
		panic(err) // a struct of texts always marshals
	}
	return &Cloud{url: url, encryptedKey: encryptedKey, key: k, provider: &state.SecretsProvider{Type: TypeCloud, State: s}}
}

// Settings are the settings of the manager in the configuration file.
func (c *Cloud) Settings() Settings { return Settings{Provider: c.url, EncryptedKey: c.encryptedKey} }

// Provider implements [Manager].
func (c *Cloud) Provider() *state.SecretsProvider { return c.provider }

// Encrypter implements [Manager].
func (c *Cloud) Encrypter() property.Encrypter { return later(c.key) }

// Decrypter implements [Manager].
func (c *Cloud) Decrypter() property.Decrypter { return later(c.key) }

// cloudFromState opens the manager that a checkpoint names.
func cloudFromState(ctx context.Context, p *state.SecretsProvider, from Source) (Manager, error) {
	var s cloudState
	if err := json.Unmarshal(p.State, &s); err != nil {
		return nil, fmt.Errorf("the state of the cloud secrets provider: %w", err)
	}
	m, err := openCloud(ctx, from.override(s.URL), s.EncryptedKey, from)
	if err != nil {
		return nil, err
	}
	m.provider = p // keeps the bytes of the state as they are in the file
	return m, nil
}

// chooseCloud opens the key that the configuration file names. If it names none, or one of another service, it makes a
// data key.
func chooseCloud(ctx context.Context, settings Settings, recorded *state.SecretsProvider, from Source) (Choice, error) {
	url := from.override(settings.Provider)
	if settings.EncryptedKey == "" || url != settings.Provider {
		m, err := NewCloud(ctx, url, from)
		if err != nil {
			return Choice{}, err
		}
		now := m.Settings()
		return Choice{Manager: m, Save: &now, Disagrees: recorded != nil}, nil
	}
	m, err := openCloud(ctx, url, settings.EncryptedKey, from)
	if err != nil {
		return Choice{}, err
	}
	disagrees := recorded != nil && !m.isOf(recorded)
	if recorded != nil && !disagrees {
		m.provider = recorded
	}
	return Choice{Manager: m, Disagrees: disagrees}, nil
}

func (c *Cloud) isOf(p *state.SecretsProvider) bool {
	var s cloudState
	return p.Type == TypeCloud && json.Unmarshal(p.State, &s) == nil && s.URL == c.url && s.EncryptedKey == c.encryptedKey
}

// later is a crypter that gets its key when a secret needs it.
type later func() (*Key, error)

func (l later) Encrypt(ctx context.Context, text string) (string, error) {
	k, err := l()
	if err != nil {
		return "", err
	}
	return k.Encrypt(ctx, text)
}

func (l later) Decrypt(ctx context.Context, text string) (string, error) {
	k, err := l()
	if err != nil {
		return "", err
	}
	return k.Decrypt(ctx, text)
}

func schemeOf(url string) string {
	scheme, _, _ := strings.Cut(url, ":")
	return scheme
}

// cloudSchemes are the schemes of the key services that Pulumi supports.
func cloudSchemes() []string { return []string{"awskms", azureScheme, "gcpkms", "hashivault"} }
