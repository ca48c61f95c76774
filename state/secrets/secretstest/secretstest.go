// Package secretstest makes passphrases cheap in tests.
package secretstest

import (
	"bytes"
	"crypto/sha256"
	"slices"

	"github.com/sluice-iac/sluice/state/secrets"
)

// CheapKeys derives the keys of new salts in microseconds. For other salts, such as those in recorded states, it uses the usual
// derivation.
type CheapKeys struct{}

var _ secrets.Derivation = CheapKeys{}

// mark is the beginning of the salts of cheap keys.
const mark = "cheap"

// Salt implements [secrets.Derivation].
func (CheapKeys) Salt() ([]byte, error) {
	salt, err := secrets.PBKDF2{}.Salt()
	return append([]byte(mark), salt...), err
}

// Key implements [secrets.Derivation].
func (CheapKeys) Key(passphrase string, salt []byte) ([]byte, error) {
	if !bytes.HasPrefix(salt, []byte(mark)) {
		return secrets.PBKDF2{}.Key(passphrase, salt)
	}
	key := sha256.Sum256(slices.Concat(salt, []byte(passphrase)))
	return key[:], nil
}

// Source always gives the same passphrase, and makes cheap keys.
func Source(passphrase string) secrets.Source {
	return secrets.FixedSource(passphrase).WithDerivation(CheapKeys{})
}
