package sealing

import (
	"context"
	"errors"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/state/secrets"
)

// Seal opens and encrypts the secrets of a stack.
type Seal struct {
	Manager     secrets.Manager // nil: the one that the state names
	Passphrases secrets.Source
	// Lenient turns a secret that cannot be opened into an unavailable value instead of an error.
	Lenient bool
}

// manager returns the manager for secrets that p encrypted; nil for no provider.
func (s Seal) manager(ctx context.Context, p *state.SecretsProvider) (secrets.Manager, error) {
	if s.Manager != nil && (p == nil || s.Manager.Provider().Identity() == p.Identity()) {
		return s.Manager, nil
	}
	return secrets.FromState(ctx, p, s.Passphrases)
}

// Decrypter returns the decrypter for secrets that p encrypted; nil for no provider.
func (s Seal) Decrypter(ctx context.Context, p *state.SecretsProvider) (property.Decrypter, error) {
	m, err := s.manager(ctx, p)
	switch {
	case err != nil && s.Lenient && ctx.Err() == nil && !isUnanswered(err):
		return property.Lenient(unusable{err}, isUnanswered), nil
	case err != nil || m == nil:
		return nil, err
	case s.Lenient:
		return property.Lenient(m.Decrypter(), isUnanswered), nil
	}
	return m.Decrypter(), nil
}

// isUnanswered reports whether the user has ended the question for a passphrase. That ends the command, and means nothing for the secret.
func isUnanswered(err error) bool {
	var unanswered *secrets.PromptError
	return errors.As(err, &unanswered)
}

// Provider returns the provider for the next state: that of the manager in use, else that of the present state.
func (s Seal) Provider(present *state.SecretsProvider) *state.SecretsProvider {
	if s.Manager == nil || present != nil && s.Manager.Provider().Identity() == present.Identity() {
		return present
	}
	return s.Manager.Provider()
}

// Encoder returns an encoder for a state whose secrets belong to p. It cannot write sealed secrets of another provider.
// Even if p cannot be used, it writes the ciphertexts that the state has.
func (s Seal) Encoder(ctx context.Context, p *state.SecretsProvider) *state.Encoder {
	m, err := s.manager(ctx, p)
	switch {
	case err != nil:
		return CiphertextEncoder(p, err)
	case m == nil:
		return state.NewEncoder(state.EncoderOptions{Crypter: p.Identity()})
	}
	return state.NewEncoder(state.EncoderOptions{Crypter: p.Identity(), Encrypter: m.Encrypter()})
}

// Ahead encrypts the new secrets of resources in few calls, if p is a service, so that an encoder finds their ciphertexts. If a resource cannot
// be encoded, the encoder reports it later.
func (s Seal) Ahead(ctx context.Context, p *state.SecretsProvider, resources ...*state.Resource) error {
	if p == nil || p.Type != secrets.TypeService {
		return nil
	}
	m, err := s.manager(ctx, p)
	if err != nil || m == nil {
		return nil
	}
	encrypter := m.Encrypter()
	if _, asks := encrypter.(secrets.Batch); !asks {
		return nil
	}
	texts := &collected{}
	known, every := CiphertextEncoder(p, errNew), state.NewEncoder(state.EncoderOptions{Encrypter: texts})
	for _, r := range resources {
		if _, err := known.Resource(ctx, r, false); errors.Is(err, errNew) {
			_, _ = every.Resource(ctx, r, false)
		}
	}
	return secrets.EncryptAhead(ctx, encrypter, texts.all)
}

// errNew is the error for a secret without a ciphertext.
var errNew = errors.New("a secret is not encrypted yet")

// collected are the texts that an encoder would encrypt.
type collected struct{ all []string }

func (c *collected) Encrypt(_ context.Context, text string) (string, error) {
	c.all = append(c.all, text)
	return text, nil // what is encoded with it is thrown away
}

var _ property.Encrypter = (*collected)(nil)

// CiphertextEncoder returns an encoder for a state whose secrets p has encrypted already. why is its error for a secret
// that is not encrypted.
func CiphertextEncoder(p *state.SecretsProvider, why error) *state.Encoder {
	return state.NewEncoder(state.EncoderOptions{Crypter: p.Identity(), Encrypter: unusable{why}})
}

// unusable fails when there is a secret to encrypt or to decrypt.
type unusable struct{ err error }

func (u unusable) Encrypt(context.Context, string) (string, error) { return "", u.err }

func (u unusable) Decrypt(context.Context, string) (string, error) { return "", u.err }

var _ property.Encrypter = unusable{}
