package secrets

import (
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
)

// Derivation makes the salts of new stacks, and derives raw keys from passphrases. The one of [state.md 5.2] is PBKDF2, which takes a good part of a
// second for each key. Its methods may be called from several goroutines at once.
//
// [state.md 5.2]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/state.md#52-passphrase
type Derivation interface {
	Salt() ([]byte, error)
	Key(passphrase string, salt []byte) ([]byte, error)
}

// PBKDF2 is the derivation of [state.md 5.2].
//
// [state.md 5.2]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/state.md#52-passphrase
type PBKDF2 struct{}

var _ Derivation = PBKDF2{}

// The parameters of the passphrase provider (state.md 5.2).
const (
	saltLength = 8
	keyLength  = 32
	iterations = 1_000_000
)

// Salt implements [Derivation].
func (PBKDF2) Salt() ([]byte, error) {
	salt := make([]byte, saltLength)
	_, err := rand.Read(salt)
	return salt, err
}

// Key implements [Derivation].
func (PBKDF2) Key(passphrase string, salt []byte) ([]byte, error) {
	return pbkdf2.Key(sha256.New, passphrase, salt, iterations, keyLength)
}
