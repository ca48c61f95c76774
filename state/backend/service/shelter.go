package service

import (
	"bytes"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/state/backend/service/internal/api"
	"github.com/sluice-iac/sluice/state/secrets"
	"github.com/sluice-iac/sluice/state/store"
)

// A new secret that the service cannot encrypt, because it is away, is encrypted with a key of this machine: else what was done could not be recorded. Such
// ciphertexts are in working copies alone. Whatever leaves for the service has those of the service instead.

// sheltered begins the ciphertexts of this machine. Those of the service are base64.
const sheltered = "local:v1:"

// shelterKey is the file with the key, beside the working copies.
const shelterKey = "local-secrets.key"

// shelter returns a manager for working copies, which can encrypt while the service is away.
func (c *core) shelter(m secrets.Manager) secrets.Manager {
	switch own := m.(type) {
	case *keys:
		return shelter{m, own}
	case *recordedKeys:
		return shelter{m, own.keys}
	}
	return m
}

type shelter struct {
	secrets.Manager
	keys *keys
}

// Encrypter implements [secrets.Manager].
func (s shelter) Encrypter() property.Encrypter { return s }

// Encrypt implements [property.Encrypter].
func (s shelter) Encrypt(ctx context.Context, text string) (string, error) {
	k := s.keys
	if !k.isAway() {
		sealed, err := k.Encrypt(ctx, text)
		if err == nil || !api.IsAway(err) {
			return sealed, err
		}
		k.setAway(true)
	}
	gcm, err := k.backend.localKey(ctx, k.stack.Organization)
	if err != nil {
		return "", err
	}
	sealed := sheltered + base64.StdEncoding.EncodeToString(gcm.Seal(nil, nil, []byte(text), nil))
	k.remember([]string{sealed}, []string{text})
	return sealed, nil
}

func (k *keys) isAway() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.away
}

func (k *keys) setAway(away bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.away = away
}

// localKey returns the key of this machine for the stacks of an organization. The first call makes it.
func (c *core) localKey(ctx context.Context, organization string) (cipher.AEAD, error) {
	all, err := c.copiesOf(ctx, organization)
	if err != nil {
		return nil, err
	}
	key, _, err := all.dir.Read(ctx, shelterKey)
	if errors.Is(err, fs.ErrNotExist) {
		key = make([]byte, 32)
		_, _ = rand.Read(key) // never fails
		if _, err = all.dir.Write(ctx, shelterKey, key, store.IfAbsent()); errors.Is(err, store.ErrConflict) {
			key, _, err = all.dir.Read(ctx, shelterKey) // another process was faster
		}
	}
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", all.dir.Name(shelterKey), err)
	}
	return cipher.NewGCMWithRandomNonce(block)
}

// openSheltered opens those of the ciphertexts that are of this machine, and returns the others.
func (k *keys) openSheltered(ctx context.Context, sealed []string) (others []string, err error) {
	for _, s := range sealed {
		text, own := strings.CutPrefix(s, sheltered)
		if !own {
			others = append(others, s)
			continue
		}
		raw, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			return nil, err
		}
		gcm, err := k.backend.localKey(ctx, k.stack.Organization)
		if err != nil {
			return nil, err
		}
		plain, err := gcm.Open(nil, nil, raw, nil)
		if err != nil {
			return nil, fmt.Errorf("a secret was encrypted on another machine, while the service was away: %w", err)
		}
		k.remember([]string{s}, []string{string(plain)})
	}
	return others, nil
}

// delivered returns the text of a state, or of a part of one, with ciphertexts of the service for those of this machine. The same ones become the same.
func (c *core) delivered(ctx context.Context, p *state.SecretsProvider, text []byte) ([]byte, error) {
	if p == nil || p.Type != secrets.TypeService || !bytes.Contains(text, []byte(`"`+sheltered)) {
		return text, nil
	}
	m, err := c.openKeys(ctx, p)
	if err != nil {
		return nil, err
	}
	k, is := m.(*keys)
	if recorded, wrapped := m.(*recordedKeys); wrapped {
		k, is = recorded.keys, true
	}
	if !is {
		return text, nil
	}
	var pairs []string
	for _, sealed := range secretsIn(text) {
		if !strings.HasPrefix(sealed, sheltered) {
			continue
		}
		there, err := k.deliver(ctx, sealed)
		if err != nil {
			return nil, err
		}
		pairs = append(pairs, `"`+sealed+`"`, `"`+there+`"`)
	}
	return []byte(strings.NewReplacer(pairs...).Replace(string(text))), nil
}

// deliver returns the ciphertext of the service for one of this machine.
func (k *keys) deliver(ctx context.Context, sealed string) (string, error) {
	k.mu.Lock()
	there, known := k.there[sealed]
	k.mu.Unlock()
	if known {
		return there, nil
	}
	plain, err := k.Decrypt(ctx, sealed)
	if err != nil {
		return "", err
	}
	if there, err = k.Encrypt(ctx, plain); err != nil {
		return "", err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.there[sealed], k.away = there, false
	return there, nil
}
