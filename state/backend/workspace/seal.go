package workspace

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
)

// envelope is an encrypted credentials file, in Pulumi's form.
type envelope struct {
	Version *int   `json:"$pulumiSecureStore"`
	Store   string `json:"backend"`
	Cipher  string `json:"algo"`
	Nonce   []byte `json:"nonce"`
	Data    []byte `json:"data"`
}

const (
	envelopeVersion = 1
	envelopeCipher  = "aes-256-gcm"
)

// envelopeOf returns the envelope in a file, nil if the file has another form.
func envelopeOf(text []byte) *envelope {
	var e envelope
	if err := json.Unmarshal(text, &e); e.Version == nil {
		var marked map[string]json.RawMessage
		if json.Unmarshal(text, &marked) == nil && err != nil && marked["$pulumiSecureStore"] != nil {
			return &envelope{Version: new(int)} // a version whose members have other types
		}
		return nil
	}
	return &e
}

// bound is what the encryption protects from changes, beside the data.
func (e *envelope) bound() []byte { return fmt.Appendf(nil, "%d|%s|%s", *e.Version, e.Store, e.Cipher) }

// seal encrypts a text.
func seal(key []byte, store string, text []byte) ([]byte, error) {
	aead, err := newCipher(key)
	if err != nil {
		return nil, err
	}
	version := envelopeVersion
	e := &envelope{Version: &version, Store: store, Cipher: envelopeCipher, Nonce: make([]byte, aead.NonceSize())}
	if _, err := rand.Read(e.Nonce); err != nil {
		return nil, err
	}
	e.Data = aead.Seal(nil, e.Nonce, text, e.bound())
	return json.MarshalIndent(e, "", "    ")
}

// check returns an error for an envelope of a newer form.
func (e *envelope) check() error {
	if *e.Version != envelopeVersion || e.Cipher != envelopeCipher {
		return fmt.Errorf("it has version %d with the cipher %q, and only version %d with %s is supported", *e.Version, e.Cipher, envelopeVersion, envelopeCipher)
	}
	return nil
}

// open decrypts the text in an envelope.
func (e *envelope) open(key []byte) ([]byte, error) {
	aead, err := newCipher(key)
	if err != nil {
		return nil, err
	}
	if len(e.Nonce) != aead.NonceSize() {
		return nil, fmt.Errorf("its nonce has %d bytes", len(e.Nonce))
	}
	text, err := aead.Open(nil, e.Nonce, e.Data, e.bound())
	if err != nil {
		return nil, errors.New("the key in the key store of the system is not the one that has encrypted it, or the file is damaged")
	}
	return text, nil
}

func newCipher(key []byte) (cipher.AEAD, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}
