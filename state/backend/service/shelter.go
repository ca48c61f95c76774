package service

import (
	"context"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/state/backend/service/internal/api"
	"github.com/sluice-iac/sluice/state/secrets"
)

// A new secret that the service cannot encrypt, because it is away, is encrypted with a key of this machine: otherwise the operation could not be
// recorded. Such ciphertexts are only in working copies. All data for the service has the service's ciphertexts instead.

// sheltered is the prefix of this machine's ciphertexts. Those of the service are base64.
const sheltered = "local:"

// shelterKey is the file with the key, beside the working copies.
const shelterKey = "local-secrets.key"

type shelter struct {
	secrets.Manager
	keys *keys
}

// Encrypter implements [secrets.Manager].
func (s shelter) Encrypter() property.Encrypter { return s }

// Encrypt implements [property.Encrypter].
func (s shelter) Encrypt(ctx context.Context, text string) (string, error) {
	k := s.keys
	if sealed, is := k.takeReady(text); is {
		return sealed, nil
	}
	if !k.isAway() {
		sealed, err := k.Encrypt(ctx, text)
		if err == nil || !api.IsAway(err) {
			return sealed, err
		}
		k.setAway(true)
	}
	own, err := k.backend.localKey(ctx, k.stack.Organization)
	if err != nil {
		return "", err
	}
	sealed, err := own.Encrypt(ctx, text)
	if err != nil {
		return "", err
	}
	k.remember([]string{sheltered + sealed}, []string{text})
	return sheltered + sealed, nil
}

// EncryptAhead implements [secrets.Batch].
func (s shelter) EncryptAhead(ctx context.Context, texts []string) error {
	if s.keys.isAway() {
		return nil
	}
	err := s.keys.EncryptAhead(ctx, texts)
	if api.IsAway(err) {
		s.keys.setAway(true)
		return nil
	}
	return err
}

// DecryptAhead implements [secrets.Batch].
func (s shelter) DecryptAhead(ctx context.Context, sealed []string) error {
	return s.keys.DecryptAhead(ctx, sealed)
}

var _ secrets.Batch = shelter{}
