package api

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"slices"
)

// The limits of a batch of secrets: their number, and their total size in bytes. A longer secret is a batch of its own.
const (
	batchCount = 500
	batchBytes = 1 << 20
)

// ErrOneByOne reports that the service takes secrets only one by one.
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

// inBatches calls do for texts batch by batch, and concatenates the results. A batch that the service finds too large is halved.
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

// oneByOne returns [ErrOneByOne] for the answer of a service that does not have a call. A missing stack has the same status: the call for one
// secret distinguishes the two.
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

// sealed is the answer of a call that encrypts one text.
type sealed struct {
	Ciphertext []byte `json:"ciphertext"`
}

func (a *sealed) check(members) error { return ciphertext(a.Ciphertext) }

func ciphertext(b []byte) error {
	if len(b) == 0 {
		return errors.New("it has no ciphertext")
	}
	return nil
}

// Encrypt encrypts a text. It also decrypts the ciphertext: a wrong one could not be corrected later.
func (k Secrets) Encrypt(ctx context.Context, text string) (string, error) {
	in := map[string][]byte{"plaintext": []byte(text)}
	var out sealed
	c := call{method: http.MethodPost, path: k.stack.path("encrypt"), in: in, repeat: true}
	if err := k.client.do(ctx, c, &out); err != nil {
		return "", err
	}
	made := encoded(out.Ciphertext)
	again, err := k.decrypt(ctx, made)
	return made, k.same(c, []string{text}, []string{again}, err)
}

// same returns an error unless decryption returned the encrypted texts.
func (k Secrets) same(c call, texts, again []string, err error) error {
	what := c.method + " " + c.path
	switch {
	case err == nil && !slices.Equal(texts, again):
		return &WrongAnswerError{k.client.base.Host, what, errors.New("it decrypts its own ciphertext to another text")}
	case errors.As(err, new(*AnswerError)) && !IsAway(err):
		return &WrongAnswerError{k.client.base.Host, what, fmt.Errorf("it cannot decrypt its own ciphertext: %w", err)}
	}
	return err
}

// sealedAll is the answer of a call that encrypts texts.
type sealedAll struct {
	Ciphertexts [][]byte `json:"ciphertexts"`
	n           int      // the required number of ciphertexts
}

func (a *sealedAll) check(members) error {
	if len(a.Ciphertexts) != a.n {
		return fmt.Errorf("it was given %d secrets to encrypt and returned %d", a.n, len(a.Ciphertexts))
	}
	for _, b := range a.Ciphertexts {
		if err := ciphertext(b); err != nil {
			return err
		}
	}
	return nil
}

// EncryptAll encrypts texts, and returns the ciphertexts in the same order. It also decrypts them. The error may be [ErrOneByOne].
func (k Secrets) EncryptAll(ctx context.Context, texts []string) ([]string, error) {
	return inBatches(texts, func(some []string) ([]string, error) {
		in := struct {
			Plaintexts [][]byte `json:"plaintexts"`
		}{make([][]byte, len(some))}
		for i, text := range some {
			in.Plaintexts[i] = []byte(text)
		}
		out := sealedAll{n: len(some)}
		c := call{method: http.MethodPost, path: k.stack.path("batch-encrypt"), in: in, repeat: true, squeeze: true}
		if err := k.client.do(ctx, c, &out); err != nil {
			return nil, oneByOne(err)
		}
		all := make([]string, len(some))
		for i, b := range out.Ciphertexts {
			all[i] = encoded(b)
		}
		again, err := k.decryptAll(ctx, all)
		return all, k.same(c, some, again, err)
	})
}

// opened is the answer of a call that decrypts one text.
type opened struct {
	Plaintext []byte `json:"plaintext"`
}

// check accepts null: servers in Go write it for the empty text.
func (a *opened) check(given members) error { return given.list("plaintext") }

// Decrypt opens a ciphertext.
func (k Secrets) Decrypt(ctx context.Context, sealed string) (string, error) {
	text, err := k.decrypt(ctx, sealed)
	return text, k.notEmptied(ctx, []string{sealed}, []string{text}, err)
}

func (k Secrets) decrypt(ctx context.Context, sealed string) (string, error) {
	raw, err := decoded(sealed)
	if err != nil {
		return "", err
	}
	in := map[string][]byte{"ciphertext": raw[0]}
	var out opened
	err = k.client.do(ctx, call{method: http.MethodPost, path: k.stack.path("decrypt"), in: in, repeat: true}, &out)
	return string(out.Plaintext), err
}

// notEmptied returns an error if a secret was decrypted to an empty text although the length of its ciphertext is not that of an empty text.
func (k Secrets) notEmptied(ctx context.Context, all, texts []string, err error) error {
	at := slices.Index(texts, "")
	if err != nil || at < 0 {
		return err
	}
	var empty sealed
	c := call{method: http.MethodPost, path: k.stack.path("encrypt"), in: map[string][]byte{"plaintext": {}}, repeat: true}
	if err := k.client.do(ctx, c, &empty); err != nil {
		return err
	}
	raw, err := decoded(all...)
	if err != nil {
		return err
	}
	for i, text := range texts {
		if text == "" && len(raw[i]) != len(empty.Ciphertext) {
			return &WrongAnswerError{k.client.base.Host, "POST " + k.stack.path("decrypt"), errors.New("it has no plaintext")}
		}
	}
	return nil
}

// openedAll is the answer of a call that decrypts texts.
type openedAll struct {
	Plaintexts map[string][]byte `json:"plaintexts"`
	all        []string          // the required ciphertexts
}

func (a *openedAll) check(members) error {
	for _, text := range a.all {
		if _, there := a.Plaintexts[text]; !there {
			return errors.New("it has not decrypted a secret that it was given")
		}
	}
	return nil
}

// DecryptAll opens ciphertexts, and returns the texts in their order. The error may be [ErrOneByOne].
func (k Secrets) DecryptAll(ctx context.Context, all []string) ([]string, error) {
	texts, err := k.decryptAll(ctx, all)
	return texts, k.notEmptied(ctx, all, texts, err)
}

func (k Secrets) decryptAll(ctx context.Context, all []string) ([]string, error) {
	return inBatches(all, func(some []string) ([]string, error) {
		raw, err := decoded(some...)
		if err != nil {
			return nil, err
		}
		in := map[string][][]byte{"ciphertexts": raw}
		out := openedAll{all: some}
		if err := k.client.do(ctx, call{
			method: http.MethodPost, path: k.stack.path("batch-decrypt"), in: in, repeat: true, squeeze: true,
		}, &out); err != nil {
			return nil, oneByOne(err)
		}
		texts := make([]string, len(some))
		for i, text := range some {
			texts[i] = string(out.Plaintexts[text])
		}
		return texts, nil
	})
}

// encoded returns a ciphertext in the form of states.
func encoded(raw []byte) string { return base64.StdEncoding.EncodeToString(raw) }

// decoded returns ciphertexts in the form of the service.
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

// NoteDecryption records in the service's audit log that a secret setting was shown, or that a command shows secrets. Exactly one of
// the two is given.
func (k Secrets) NoteDecryption(ctx context.Context, secret, command string) error {
	in := struct {
		Secret  string `json:"secretName,omitempty"`
		Command string `json:"commandName,omitempty"`
	}{secret, command}
	which := "log-decryption"
	if secret == "" {
		which = "log-batch-decryption"
	}
	return k.client.do(ctx, call{method: http.MethodPost, path: k.stack.path("decrypt", which), in: in}, &nothing{})
}
