package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/sluice-iac/sluice/internal/platform/keystore"
)

// EnvCredentialStore is the variable that says whether the credentials file is encrypted.
const EnvCredentialStore = "PULUMI_CREDENTIAL_STORE"

// keys is the key of the credentials file in a key store.
type keys interface {
	// Get returns the key, and an error if there is none.
	Get() ([]byte, error)
	// Ensure returns the key, and makes one if there is none.
	Ensure() ([]byte, error)
	Delete() error
}

// credentialsKey is the key that Pulumi uses too.
func credentialsKey() keys {
	return keystore.Key{Service: "Pulumi CLI", Account: "credentials-key", Mark: "pulumi-securestore-v1"}
}

// sealing decides whether a credentials file is encrypted, and does it.
type sealing struct {
	mode  string // the value of [EnvCredentialStore]
	store string // the name of the key store of the system
	keys  keys
}

func newSealing(lookup func(name string) (string, bool)) sealing {
	mode, isSet := lookup(EnvCredentialStore)
	if !isSet {
		mode = ""
	}
	return sealing{strings.ToLower(strings.TrimSpace(mode)), keystore.System(), credentialsKey()}
}

// check returns an error for an unknown mode.
func (s sealing) check() error {
	switch s.mode {
	case "", "auto", "os", "plaintext":
		return nil
	}
	return fmt.Errorf("%s=%s: it must be auto, os or plaintext", EnvCredentialStore, s.mode)
}

// open returns the text of a file, which may be encrypted.
func (s sealing) open(text []byte) ([]byte, error) {
	e := envelopeOf(text)
	if e == nil {
		return text, nil
	}
	if err := s.owns(e); err != nil {
		return nil, err
	}
	key, err := s.keys.Get()
	if err == nil {
		text, err = e.open(key)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrEncrypted, err)
	}
	return text, nil
}

// owns returns an error for an envelope that another version or another key store has made.
func (s sealing) owns(e *envelope) error {
	if err := e.check(); err != nil {
		return fmt.Errorf("%w: %w", ErrEncrypted, err)
	}
	if e.Store != s.store {
		return fmt.Errorf("%w: its key is in the key store %q, and only %q is supported here", ErrEncrypted, e.Store, s.store)
	}
	return nil
}

// close returns the text of the file at path to write: encrypted if that is asked for, or if the file is encrypted now and encryption was not
// switched off.
func (s sealing) close(path string, text []byte) ([]byte, error) {
	if err := s.check(); err != nil || s.mode == "plaintext" {
		return text, err
	}
	present, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	e := envelopeOf(present)
	switch {
	case e != nil:
		if err := s.owns(e); err != nil {
			return nil, err
		}
	case s.mode == "":
		return text, nil
	}
	key, err := s.keys.Ensure()
	switch {
	case err == nil:
		return seal(key, s.store, text)
	case e == nil && s.mode == "auto" && errors.Is(err, keystore.ErrUnavailable):
		return text, nil
	case e != nil:
		return nil, fmt.Errorf("%s is encrypted and is not replaced by plain text, unless %s=plaintext: %w", path, EnvCredentialStore, err)
	}
	return nil, fmt.Errorf("%s=%s: %w; with plaintext, only the rights of the file protect the credentials", EnvCredentialStore, s.mode, err)
}
