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
			return nil, from.Locked()
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

func newPassphrase(salt string, k func() (*Key, error)) *Passphrase {
	s, err := json.Marshal(passphraseState{salt})
	if err != nil {
		panic(err) // a struct of one string always marshals
	}
	return &Passphrase{salt: salt, key: k, provider: &state.SecretsProvider{Type: TypePassphrase, State: s}}
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

func (p *Passphrase) chosen(recorded *state.SecretsProvider) Choice {
	return Choice{Manager: p, Disagrees: recorded != nil && !sameSalt(p.salt, recorded)}
}

func sameSalt(salt string, p *state.SecretsProvider) bool {
	var s passphraseState
	return p.Type == TypePassphrase && json.Unmarshal(p.State, &s) == nil && s.Salt == salt
}

// ErrLocked is returned by the crypter of a state with another passphrase than the given one, when something has to be
// encrypted or decrypted. It wraps [ErrIncorrectPassphrase].
var ErrLocked = fmt.Errorf("failed to decrypt: %w, please set %s to the correct passphrase or set %s to a file "+
	"containing the passphrase", ErrIncorrectPassphrase, EnvPassphrase, EnvPassphraseFile)
