package secrets

import (
	"context"

	"github.com/sluice-iac/sluice/property"
)

// Batch is an [property.Encrypter] or a [property.Decrypter] that asks a service for each secret, and can ask for many at once. What is asked ahead is
// remembered: the next Encrypt of a text, and each Decrypt of a ciphertext, asks nobody. What the service refuses is not: whoever asks for that one gets
// the error.
type Batch interface {
	EncryptAhead(ctx context.Context, texts []string) error
	DecryptAhead(ctx context.Context, ciphertexts []string) error
}

// EncryptAhead prepares e for texts that it will be given, one Encrypt for each. Nothing is done for one that asks nobody.
func EncryptAhead(ctx context.Context, e property.Encrypter, texts []string) error {
	if b, is := e.(Batch); is && len(texts) > 1 {
		return b.EncryptAhead(ctx, texts)
	}
	return nil
}

// DecryptAhead prepares d for ciphertexts that it will be given. Nothing is done for one that asks nobody.
func DecryptAhead(ctx context.Context, d property.Decrypter, ciphertexts []string) error {
	if b, is := d.(Batch); is && len(ciphertexts) > 1 {
		return b.DecryptAhead(ctx, ciphertexts)
	}
	return nil
}
