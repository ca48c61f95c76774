package secrets

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/state"
)

// Key encrypts with AES-256-GCM: "v1:<nonce>:<ciphertext and tag>", base64 ([state.md 5.3]). It is safe for concurrent use.
//
// [state.md 5.3]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/state.md#53-ciphertexts
type Key struct{ aead cipher.AEAD }

var (
	_ property.Encrypter = (*Key)(nil)
	_ property.Decrypter = (*Key)(nil)
)

// NewRawKey returns the bytes of a new key.
func NewRawKey() []byte {
	raw := make([]byte, keyLength)
	_, _ = rand.Read(raw) // never fails
	return raw
}

// NewKey returns the key with these bytes.
func NewKey(raw []byte) (*Key, error) {
	block, err := aes.NewCipher(raw)
	if err != nil {
		return nil, err
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		return nil, err
	}
	return &Key{aead}, nil
}

// Encrypt implements [property.Encrypter].
func (k *Key) Encrypt(_ context.Context, plaintext string) (string, error) {
	nonce := make([]byte, k.aead.NonceSize())
	if _, err := rand.Read(nonce); err != nil {
		return "", err
	}
	return k.seal(nonce, plaintext), nil
}

func (k *Key) seal(nonce []byte, plaintext string) string {
	sealed := k.aead.Seal(nil, nonce, []byte(plaintext), nil)
	return "v1:" + base64.StdEncoding.EncodeToString(nonce) + ":" + base64.StdEncoding.EncodeToString(sealed)
}

var errCiphertext = errors.New("the ciphertext must have the form v1:<nonce>:<data> with base64 parts")

// Decrypt implements [property.Decrypter].
func (k *Key) Decrypt(_ context.Context, ciphertext string) (string, error) {
	parts := strings.Split(ciphertext, ":")
	if len(parts) != 3 || parts[0] != "v1" {
		return "", errCiphertext
	}
	nonce, err := base64.StdEncoding.DecodeString(parts[1])
	if err != nil || len(nonce) != k.aead.NonceSize() {
		return "", errCiphertext
	}
	data, err := base64.StdEncoding.DecodeString(parts[2])
	if err != nil {
		return "", errCiphertext
	}
	text, err := k.aead.Open(nil, nonce, data, nil)
	if err != nil {
		return "", fmt.Errorf("the ciphertext does not fit the key of this stack: %w", err)
	}
	return string(text), nil
}

// Plain is a manager that only encodes: base64, for tests and for stacks in memory. It hides nothing.
type Plain struct{}

var _ Manager = Plain{}

// Provider implements [Manager].
func (Plain) Provider() *state.SecretsProvider { return &state.SecretsProvider{Type: TypeBase64} }

// Encrypter implements [Manager].
func (Plain) Encrypter() property.Encrypter { return encoding{} }

// Decrypter implements [Manager].
func (Plain) Decrypter() property.Decrypter { return encoding{} }

type encoding struct{}

func (encoding) Encrypt(_ context.Context, text string) (string, error) {
	return base64.StdEncoding.EncodeToString([]byte(text)), nil
}

func (encoding) Decrypt(_ context.Context, text string) (string, error) {
	b, err := base64.StdEncoding.DecodeString(text)
	return string(b), err
}
