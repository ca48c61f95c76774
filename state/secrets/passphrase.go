package secrets

import (
	"context"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/state"
)

// The parameters of the passphrase provider (state.md 5.2).
const (
	saltLength = 8
	keyLength  = 32
	iterations = 1_000_000
	verifier   = "pulumi"
)

// ErrIncorrectPassphrase is wrapped by the error for a passphrase that does not fit the salt.
var ErrIncorrectPassphrase = errors.New("incorrect passphrase")

// Passphrase is the manager whose key comes from a passphrase.
type Passphrase struct {
	salt     string // as in the configuration: "v1:<salt>:<verifier>"
	key      *key
	provider *state.SecretsProvider
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
	salt := make([]byte, saltLength)
	if _, err := rand.Read(salt); err != nil {
		return nil, err
	}
	k, err := derive(text, salt)
	if err != nil {
		return nil, err
	}
	proof, err := k.Encrypt(ctx, verifier)
	if err != nil {
		return nil, err
	}
	return newPassphrase("v1:"+base64.StdEncoding.EncodeToString(salt)+":"+proof, k), nil
}

// Open makes the manager for a salt as the configuration file records it. It derives the key, which takes a good part
// of a second the first time: see [Source]. Errors wrap [ErrIncorrectPassphrase] or [ErrNoPassphrase].
func Open(ctx context.Context, salt string, from Source) (*Passphrase, error) {
	version, rest, _ := strings.Cut(salt, ":")
	text, proof, ok := strings.Cut(rest, ":")
	if version != "v1" || !ok {
		return nil, fmt.Errorf("the salt of the secrets provider must have the form v1:<salt>:<verifier>, not %q", salt)
	}
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, fmt.Errorf("the salt of the secrets provider: %w", err)
	}
	k, err := from.key(ctx, salt, func(passphrase string) (*key, error) {
		k, err := derive(passphrase, raw)
		if err != nil {
			return nil, err
		}
		if got, err := k.Decrypt(ctx, proof); err != nil || got != verifier {
			return nil, ErrIncorrectPassphrase
		}
		return k, nil
	})
	if err != nil {
		return nil, err
	}
	return newPassphrase(salt, k), nil
}

func newPassphrase(salt string, k *key) *Passphrase {
	s, err := json.Marshal(passphraseState{salt})
	if err != nil {
		panic(err) // a struct of one string always marshals
	}
	return &Passphrase{salt: salt, key: k, provider: &state.SecretsProvider{Type: TypePassphrase, State: s}}
}

func derive(passphrase string, salt []byte) (*key, error) {
	raw, err := pbkdf2.Key(sha256.New, passphrase, salt, iterations, keyLength)
	if err != nil {
		return nil, fmt.Errorf("derive a key from the passphrase: %w", err)
	}
	return newKey(raw)
}

// Salt is what the configuration file records as encryptionsalt.
func (p *Passphrase) Salt() string { return p.salt }

// Provider implements [Manager].
func (p *Passphrase) Provider() *state.SecretsProvider { return p.provider }

// Encrypter implements [Manager].
func (p *Passphrase) Encrypter() property.Encrypter { return p.key }

// Decrypter implements [Manager].
func (p *Passphrase) Decrypter() property.Decrypter { return p.key }

// ErrLocked is returned by the crypter of a stack whose passphrase is wrong, when something has to be encrypted or
// decrypted. It wraps [ErrIncorrectPassphrase].
var ErrLocked = fmt.Errorf("failed to decrypt: %w, please set %s to the correct passphrase or set %s to a file containing the passphrase",
	ErrIncorrectPassphrase, EnvPassphrase, EnvPassphraseFile)

// locked keeps the state of a provider whose passphrase is wrong.
type locked struct{ provider *state.SecretsProvider }

func (l *locked) Provider() *state.SecretsProvider { return l.provider }
func (l *locked) Encrypter() property.Encrypter    { return refuse{} }
func (l *locked) Decrypter() property.Decrypter    { return refuse{} }

type refuse struct{}

func (refuse) Encrypt(context.Context, string) (string, error) { return "", ErrLocked }
func (refuse) Decrypt(context.Context, string) (string, error) { return "", ErrLocked }

// IsLocked tells whether m came from a state whose passphrase is not the one given.
func IsLocked(m Manager) bool { _, ok := m.(*locked); return ok }
