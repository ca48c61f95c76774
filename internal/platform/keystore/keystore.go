package keystore

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"github.com/zalando/go-keyring"
)

// ErrUnavailable is wrapped by the errors for a machine or a session without a usable key store.
var ErrUnavailable = errors.New("there is no usable key store of the system")

// KeySize is the size of a key in bytes.
const KeySize = 32

// Key names a key in the store. Other programs find it by the same names.
type Key struct{ Service, Account, Mark string }

// System returns the name of the key store of this system, as Pulumi calls it; "" if there is none.
func System() string { return system }

// Get returns the key. The error wraps [ErrUnavailable] if there is no store, and [keyring.ErrNotFound] if it has no such key.
func (k Key) Get() ([]byte, error) {
	if err := usable(); err != nil {
		return nil, err
	}
	text, err := keyring.Get(k.Service, k.Account)
	switch {
	case errors.Is(err, keyring.ErrNotFound):
		return nil, fmt.Errorf("the key store of the system has no key for %s: %w", k.Service, err)
	case err != nil:
		return nil, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	return k.parse(text)
}

// Ensure returns the key, and makes one if there is none.
func (k Key) Ensure() ([]byte, error) {
	key, err := k.Get()
	if !errors.Is(err, keyring.ErrNotFound) {
		return key, err
	}
	key = make([]byte, KeySize)
	if _, err := rand.Read(key); err != nil {
		return nil, err
	}
	if err := keyring.Set(k.Service, k.Account, k.Mark+rawForm+base64.StdEncoding.EncodeToString(key)); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	return k.Get() // another process may have made one at the same time, and the store decides
}

// Delete removes the key, if there is one.
func (k Key) Delete() error {
	if err := usable(); err != nil {
		return err
	}
	if err := keyring.Delete(k.Service, k.Account); err != nil && !errors.Is(err, keyring.ErrNotFound) {
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	return nil
}

// rawForm follows the mark of a key that is not wrapped by another key, such as that of a TPM.
const rawForm = ":raw:"

func (k Key) parse(text string) ([]byte, error) {
	encoded, is := strings.CutPrefix(text, k.Mark+rawForm)
	if !is {
		return nil, fmt.Errorf("%w: the key for %s has a form that is not supported: it is sealed by a TPM, or damaged", ErrUnavailable, k.Service)
	}
	key, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil || len(key) != KeySize {
		return nil, fmt.Errorf("the key for %s in the key store of the system is damaged", k.Service)
	}
	return key, nil
}
