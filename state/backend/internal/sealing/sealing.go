package sealing

import (
	"context"
	"errors"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/state/secrets"
)

// Seal is who opens and encrypts the secrets of a stack.
type Seal struct {
	Manager     secrets.Manager // nil: what the state names
	Passphrases secrets.Source
	// Lenient makes what cannot be opened a value that is not available, where it would be an error otherwise.
	Lenient bool
}

// manager returns the one that opens and encrypts what p encrypted; nil for no provider.
func (s Seal) manager(ctx context.Context, p *state.SecretsProvider) (secrets.Manager, error) {
	if s.Manager != nil && (p == nil || s.Manager.Provider().Identity() == p.Identity()) {
		return s.Manager, nil
	}
	return secrets.FromState(ctx, p, s.Passphrases)
}

// Decrypter returns what opens the secrets that p encrypted; nil for no provider.
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

// isUnanswered reports whether the user was asked for a passphrase and has ended the question. That ends the command, and says nothing of the
// secret.
func isUnanswered(err error) bool {
	var unanswered *secrets.PromptError
	return errors.As(err, &unanswered)
}

// Provider returns what the next state names: the provider of the manager in use, else that of the present state.
func (s Seal) Provider(present *state.SecretsProvider) *state.SecretsProvider {
	if s.Manager == nil || present != nil && s.Manager.Provider().Identity() == present.Identity() {
		return present
	}
	return s.Manager.Provider()
}

// Encoder returns what writes a state whose secrets p is for. Sealed secrets of another provider cannot be written by
// it. A p that cannot be used still writes the ciphertexts that the state holds.
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

// Ahead has the new secrets of resources encrypted by few calls, if p is a service. An encoder then finds their ciphertexts made. What cannot be
// encoded is left to the encoder, which says why.
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

// errNew says that a resource has a secret without a ciphertext.
var errNew = errors.New("a secret is not encrypted yet")

// collected are the texts that something would encrypt.
type collected struct{ all []string }

func (c *collected) Encrypt(_ context.Context, text string) (string, error) {
	c.all = append(c.all, text)
	return "", nil
}

var _ property.Encrypter = (*collected)(nil)

// CiphertextEncoder returns what writes a state whose secrets p has encrypted already. Of a secret that is not encrypted it
// says why it cannot be written.
func CiphertextEncoder(p *state.SecretsProvider, why error) *state.Encoder {
	return state.NewEncoder(state.EncoderOptions{Crypter: p.Identity(), Encrypter: unusable{why}})
}

// unusable fails when there is a secret to encrypt or to decrypt.
type unusable struct{ err error }

func (u unusable) Encrypt(context.Context, string) (string, error) { return "", u.err }

func (u unusable) Decrypt(context.Context, string) (string, error) { return "", u.err }

var _ property.Encrypter = unusable{}
