package secrets

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/state"
)

// verifier is the text that the key of a stack must decrypt (state.md 5.2).
const verifier = "pulumi"

// ErrIncorrectPassphrase is wrapped by the error for a passphrase that does not fit the salt.
var ErrIncorrectPassphrase = errors.New("incorrect passphrase")

// Passphrase is the manager whose key comes from a passphrase. The key is derived once, when it is first needed, which
// takes a good part of a second.
type Passphrase struct {
	salt     string // as in the configuration: "v1:<salt>:<verifier>"
	provider *state.SecretsProvider
	key      func() (*Key, error)
}

var _ Manager = (*Passphrase)(nil)

type passphraseState struct {
	Salt string `json:"salt"`
}

// New makes a manager with a random salt and a new passphrase.
func New(ctx context.Context, from Source) (*Passphrase, error) {
	text, err := from.NewPassphrase(ctx)
	if err != nil {
		return nil, err
	}
	salt, err := from.derivation.Salt()
	if err != nil {
		return nil, err
	}
	k, err := from.derive(text, salt)
	if err != nil {
		return nil, err
	}
	proof, err := k.Encrypt(ctx, verifier)
	if err != nil {
		return nil, err
	}
	known := func() (*Key, error) { return k, nil }
	return newPassphrase("v1:"+base64.StdEncoding.EncodeToString(salt)+":"+proof, known), nil
}

// Open makes the manager for a salt as the configuration file records it, and derives the key. Errors wrap
// [ErrIncorrectPassphrase] or [ErrNoPassphrase].
func Open(ctx context.Context, salt string, from Source) (*Passphrase, error) {
	raw, proof, err := splitSalt(salt)
	if err != nil {
		return nil, err
	}
	k, err := from.key(ctx, salt, from.check(ctx, raw, proof))
	if err != nil {
		return nil, err
	}
	return newPassphrase(salt, func() (*Key, error) { return k, nil }), nil
}

// openLater is [Open] for a salt from a state: the key is derived when a secret needs it. Only then does a wrong
// passphrase matter, and only then is the user asked if the environment has none.
func openLater(ctx context.Context, salt string, from Source) (*Passphrase, error) {
	raw, proof, err := splitSalt(salt)
	if err != nil {
		return nil, err
	}
	text, given, err := from.environment()
	if err != nil {
		return nil, err
	}
	if !given {
		return openAsking(ctx, salt, from)
	}
	if known, ok := from.keys.passphrase(salt); ok {
		text = known
	}
	later := context.WithoutCancel(ctx)
	return newPassphrase(salt, sync.OnceValues(func() (*Key, error) {
		k, err := from.keys.key(later, keyName{salt, text}, from.check(later, raw, proof))
		if errors.Is(err, ErrIncorrectPassphrase) {
			return nil, from.locked()
		}
		return k, err
	})), nil
}

// openAsking is [Open] without a passphrase in the environment: the user is asked when a secret needs the key. If nobody can be asked it is an
// error at once.
func openAsking(ctx context.Context, salt string, from Source) (*Passphrase, error) {
	if !from.asks(salt) {
		return Open(ctx, salt, from)
	}
	raw, proof, err := splitSalt(salt)
	if err != nil {
		return nil, err
	}
	later := context.WithoutCancel(ctx)
	return newPassphrase(salt, sync.OnceValues(func() (*Key, error) { return from.key(later, salt, from.check(later, raw, proof)) })), nil
}

func splitSalt(salt string) (raw []byte, proof string, err error) {
	version, rest, _ := strings.Cut(salt, ":")
	text, proof, ok := strings.Cut(rest, ":")
	if version != "v1" || !ok {
		return nil, "", fmt.Errorf("the salt of the secrets provider must have the form v1:<salt>:<verifier>, not %q", salt)
	}
	if raw, err = base64.StdEncoding.DecodeString(text); err != nil {
		return nil, "", fmt.Errorf("the salt of the secrets provider: %w", err)
	}
	return raw, proof, nil
}

// check derives a key and makes sure that it is the right one.
func (s Source) check(ctx context.Context, salt []byte, proof string) func(passphrase string) (*Key, error) {
	return func(passphrase string) (*Key, error) {
		k, err := s.derive(passphrase, salt)
		if err != nil {
			return nil, err
		}
		if got, err := k.Decrypt(ctx, proof); err != nil || got != verifier {
			return nil, ErrIncorrectPassphrase
		}
		return k, nil
	}
}

func newPassphrase(salt string, k func() (*Key, error)) *Passphrase {
	s, err := json.Marshal(passphraseState{salt})
	if err != nil {
		panic(err) // a struct of one string always marshals
	}
	return &Passphrase{salt: salt, key: k, provider: &state.SecretsProvider{Type: TypePassphrase, State: s}}
}

func (s Source) derive(passphrase string, salt []byte) (*Key, error) {
	raw, err := s.derivation.Key(passphrase, salt)
	if err != nil {
		return nil, fmt.Errorf("derive a key from the passphrase: %w", err)
	}
	return NewKey(raw)
}

// Salt is the value of encryptionsalt in the configuration file.
func (p *Passphrase) Salt() string { return p.salt }

// Provider implements [Manager].
func (p *Passphrase) Provider() *state.SecretsProvider { return p.provider }

// Encrypter implements [Manager].
func (p *Passphrase) Encrypter() property.Encrypter { return later(p.key) }

// Decrypter implements [Manager].
func (p *Passphrase) Decrypter() property.Decrypter { return later(p.key) }

// Unlock derives the key, unless that has happened, and returns [ErrLocked] if the passphrase is wrong. Calling it
// early, in parallel with other work, hides the cost.
func (p *Passphrase) Unlock() error {
	_, err := p.key()
	return err
}

// ErrLocked is returned by the crypter of a state with another passphrase than the given one, when something has to be
// encrypted or decrypted. It wraps [ErrIncorrectPassphrase].
var ErrLocked = fmt.Errorf("failed to decrypt: %w, please set %s to the correct passphrase or set %s to a file "+
	"containing the passphrase", ErrIncorrectPassphrase, EnvPassphrase, EnvPassphraseFile)

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

// FromState returns the manager that a checkpoint names (state.md 5.2). With a wrong passphrase the manager is locked:
// it keeps the state and fails with [ErrLocked] when something has to be encrypted or decrypted. A missing passphrase is an
// error that wraps [ErrNoPassphrase], and a provider that cannot be used an [*UnsupportedProviderError]. A nil provider gives
// a nil manager.
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

// Settings are the parameters of secrets in a stack's configuration file (state.md 5.1, 6.3).
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

// Choose returns the manager for an operation that may write (state.md 5.5): the one that the configuration file names,
// else the one in the state, else a new passphrase. A wrong passphrase is an error that wraps [ErrIncorrectPassphrase].
// The user is asked for a passphrase only when a secret needs it.
func Choose(ctx context.Context, settings Settings, recorded *state.SecretsProvider, from Source) (Choice, error) {
	switch {
	case !isPassphrase(settings.Provider):
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

func (p *Passphrase) chosen(recorded *state.SecretsProvider) Choice {
	return Choice{Manager: p, Disagrees: recorded != nil && !sameSalt(p.salt, recorded)}
}

func sameSalt(salt string, p *state.SecretsProvider) bool {
	var s passphraseState
	return p.Type == TypePassphrase && json.Unmarshal(p.State, &s) == nil && s.Salt == salt
}
