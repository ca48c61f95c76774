package secrets

import (
	"context"

	"github.com/sluice-iac/sluice/property"
)

// Batch is a [property.Encrypter] or a [property.Decrypter] that calls a service for each secret, and can handle many in one call. The results are
// cached: the next Encrypt of a text, and each Decrypt of a ciphertext, makes no call. A refusal is not cached: Encrypt or Decrypt returns the error.
type Batch interface {
	EncryptAhead(ctx context.Context, texts []string) error
	DecryptAhead(ctx context.Context, ciphertexts []string) error
}

// EncryptAhead prepares e for the given texts, with one Encrypt for each. It does nothing if e makes no calls.
func EncryptAhead(ctx context.Context, e property.Encrypter, texts []string) error {
	if b, is := e.(Batch); is && len(texts) > 1 {
		return b.EncryptAhead(ctx, texts)
	}
	return nil
}

// DecryptAhead prepares d for the given ciphertexts. It does nothing if d makes no calls.
func DecryptAhead(ctx context.Context, d property.Decrypter, ciphertexts []string) error {
	if b, is := d.(Batch); is && len(ciphertexts) > 1 {
		return b.DecryptAhead(ctx, ciphertexts)
	}
	return nil
}
