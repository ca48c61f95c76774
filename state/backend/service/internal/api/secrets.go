package api

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"slices"
)

// The limits of a batch of secrets: their number, and their bytes together. A secret that is longer is a batch of its own.
const (
	batchCount = 500
	batchBytes = 1 << 20
)

// ErrOneByOne says that the service takes secrets only one by one.
var ErrOneByOne = errors.New("the service takes no batches of secrets")

// batches cuts texts into batches.
func batches(texts []string) [][]string {
	var all [][]string
	begin, size := 0, 0
	for i, text := range texts {
		if i > begin && (i-begin == batchCount || size+len(text) > batchBytes) {
			all = append(all, texts[begin:i])
			begin, size = i, 0
		}
		size += len(text)
	}
	if begin < len(texts) {
		all = append(all, texts[begin:])
	}
	return all
}

// inBatches has do called for texts batch by batch, and puts the results together. A batch that the service finds too large is halved.
func inBatches(texts []string, do func(some []string) ([]string, error)) ([]string, error) {
	out := make([]string, 0, len(texts))
	for _, some := range batches(texts) {
		done, err := do(some)
		if Is(err, http.StatusRequestEntityTooLarge) && len(some) > 1 {
			half := len(some) / 2
			var rest []string
			if done, err = inBatches(some[:half], do); err == nil {
				rest, err = inBatches(some[half:], do)
			}
			done = slices.Concat(done, rest)
		}
		if err != nil {
			return nil, err
		}
		out = append(out, done...)
	}
	return out, nil
}

// oneByOne returns [ErrOneByOne] for an answer that a service gives to a call that it does not have. That the stack is not there has the same
// status: the call for one secret tells.
func oneByOne(err error) error {
	for _, status := range []int{http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusNotImplemented} {
		if Is(err, status) {
			return ErrOneByOne
		}
	}
	return err
}

// Secrets are calls with the key that the service keeps for a stack.
type Secrets struct {
	client *Client
	stack  StackID
}

// Secrets returns the calls with the key of a stack.
func (c *Client) Secrets(s StackID) Secrets { return Secrets{c, s} }

// Encrypt encrypts a text.
func (k Secrets) Encrypt(ctx context.Context, text string) (string, error) {
	in := map[string][]byte{"plaintext": []byte(text)}
	var out struct {
		Ciphertext []byte `json:"ciphertext"`
	}
	err := k.client.do(ctx, call{method: http.MethodPost, path: k.stack.path("encrypt"), in: in, out: &out, repeat: true})
	return base64.StdEncoding.EncodeToString(out.Ciphertext), err
}

// EncryptAll encrypts texts, and returns the ciphertexts in their order. The error may be [ErrOneByOne].
func (k Secrets) EncryptAll(ctx context.Context, texts []string) ([]string, error) {
	return inBatches(texts, func(some []string) ([]string, error) {
		in := struct {
			Plaintexts [][]byte `json:"plaintexts"`
		}{make([][]byte, len(some))}
		for i, text := range some {
			in.Plaintexts[i] = []byte(text)
		}
		var out struct {
			Ciphertexts [][]byte `json:"ciphertexts"`
		}
		err := k.client.do(ctx, call{method: http.MethodPost, path: k.stack.path("batch-encrypt"), in: in, out: &out, repeat: true, squeeze: true})
		if err == nil && len(out.Ciphertexts) != len(some) {
			err = fmt.Errorf("the service at %s: it was given %d secrets to encrypt and returned %d", k.client.base.Host, len(some), len(out.Ciphertexts))
		}
		if err != nil {
			return nil, oneByOne(err)
		}
		sealed := make([]string, len(some))
		for i, b := range out.Ciphertexts {
			sealed[i] = base64.StdEncoding.EncodeToString(b)
		}
		return sealed, nil
	})
}

// Decrypt opens a ciphertext.
func (k Secrets) Decrypt(ctx context.Context, sealed string) (string, error) {
	raw, err := decoded(sealed)
	if err != nil {
		return "", err
	}
	in := map[string][]byte{"ciphertext": raw[0]}
	var out struct {
		Plaintext []byte `json:"plaintext"`
	}
	err = k.client.do(ctx, call{method: http.MethodPost, path: k.stack.path("decrypt"), in: in, out: &out, repeat: true})
	return string(out.Plaintext), err
}

// DecryptAll opens ciphertexts, and returns the texts in their order. The error may be [ErrOneByOne].
func (k Secrets) DecryptAll(ctx context.Context, sealed []string) ([]string, error) {
	return inBatches(sealed, func(some []string) ([]string, error) {
		raw, err := decoded(some...)
		if err != nil {
			return nil, err
		}
		in := map[string][][]byte{"ciphertexts": raw}
		var out struct {
			Plaintexts map[string][]byte `json:"plaintexts"`
		}
		if err := k.client.do(ctx, call{method: http.MethodPost, path: k.stack.path("batch-decrypt"), in: in, out: &out, repeat: true, squeeze: true}); err != nil {
			return nil, oneByOne(err)
		}
		texts := make([]string, len(some))
		for i, text := range some {
			b, there := out.Plaintexts[text]
			if !there {
				return nil, fmt.Errorf("the service at %s did not decrypt a secret of stack %s", k.client.base.Host, k.stack.Name)
			}
			texts[i] = string(b)
		}
		return texts, nil
	})
}

// decoded returns ciphertexts as the service takes them.
func decoded(sealed ...string) ([][]byte, error) {
	raw := make([][]byte, len(sealed))
	for i, text := range sealed {
		var err error
		if raw[i], err = base64.StdEncoding.DecodeString(text); err != nil {
			return nil, fmt.Errorf("a ciphertext of the service is not in base64: %w", err)
		}
	}
	return raw, nil
}

// NoteDecryption tells the service, for its audit log, that a secret setting was shown, or what a command shows. One of both is given.
func (k Secrets) NoteDecryption(ctx context.Context, secret, command string) error {
	in := struct {
		Secret  string `json:"secretName,omitempty"`
		Command string `json:"commandName,omitempty"`
	}{secret, command}
	which := "log-decryption"
	if secret == "" {
		which = "log-batch-decryption"
	}
	return k.client.do(ctx, call{method: http.MethodPost, path: k.stack.path("decrypt", which), in: in})
}
