package property

import "context"

// Encrypter turns the text of a secret into ciphertext. It must be safe for concurrent use.
type Encrypter interface {
	Encrypt(ctx context.Context, plaintext string) (string, error)
}

// Decrypter turns ciphertext back. It must be safe for concurrent use.
type Decrypter interface {
	Decrypt(ctx context.Context, ciphertext string) (string, error)
}

// SecretForm is the form in which secrets are written.
type SecretForm uint8

// The forms of a secret.
const (
	// SecretsEncrypted writes ciphertext: the form of state files.
	SecretsEncrypted SecretForm = iota
	// SecretsPlaintext writes the text of the element in the clear, for exports with --show-secrets.
	SecretsPlaintext
	// SecretsBlinded writes a secret object whose ciphertext is "[secret]": the form of engine events (protocol.md 9.2).
	SecretsBlinded
	// SecretsMasked writes the string "[secret]" in place of the secret, for people (state.md 5.7). It cannot be decoded
	// into a secret again.
	SecretsMasked
)

const (
	secretMask    = "[secret]"
	elidedContent = "<contents elided>"
)

// StateOptions define how [AppendState] writes.
type StateOptions struct {
	Secrets   SecretForm
	Encrypter Encrypter // needed for SecretsEncrypted when there is a secret to encrypt

	// Crypter names the Encrypter's key: equal names must mean that one decrypts what the other encrypted. A secret that
	// was read or written under the same name before is written with the same ciphertext, without a call (state.md 5.6).
	// "" keeps no ciphertexts.
	Crypter string

	// ElideText writes "<contents elided>" in place of the contents of text assets, as engine events do.
	ElideText bool
}

// StateDecodeOptions define how [DecodeState] reads.
type StateDecodeOptions struct {
	// Decrypter opens the secrets. Without one, secrets stay sealed: their element is an unknown, and only the same
	// Crypter can write them back; see [Value.IsSealed].
	Decrypter Decrypter
	// Crypter names the Decrypter's key; see [StateOptions]. When it is given, ciphertexts are kept beside the secrets.
	Crypter string
}

// Lenient returns a decrypter that turns a value that d cannot decrypt into an unavailable one (see [Unavailable]) instead of an error. The
// reason is the error's text. Errors for which isFatal returns true remain errors.
func Lenient(d Decrypter, isFatal func(error) bool) Decrypter { return lenient{d, isFatal} }

type lenient struct {
	Decrypter
	isFatal func(error) bool
}

// identity is the crypter of secrets inside secrets: the outer encryption covers them (state.md 2.5).
type identity struct{}

func (identity) Encrypt(_ context.Context, text string) (string, error) { return text, nil }
func (identity) Decrypt(_ context.Context, text string) (string, error) { return text, nil }
