package service

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/state/backend/service/internal/api"
	"github.com/sluice-iac/sluice/state/secrets"
	"github.com/sluice-iac/sluice/state/store"
)

// A new secret that the service cannot encrypt, because it is away, is encrypted with a key of this machine: otherwise the operation could not be
// recorded. Such ciphertexts are only in working copies. All data for the service has the service's ciphertexts instead.

// sheltered is the prefix of this machine's ciphertexts. Those of the service are base64.
const sheltered = "local:"

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
	if sealed, is := k.takeReady(text); is {
		return sealed, nil
	}
	if !k.isAway() {
		sealed, err := k.Encrypt(ctx, text)
		if err == nil || !api.IsAway(err) {
			return sealed, err
		}
		k.setAway(true)
	}
	own, err := k.backend.localKey(ctx, k.stack.Organization)
	if err != nil {
		return "", err
	}
	sealed, err := own.Encrypt(ctx, text)
	if err != nil {
		return "", err
	}
	k.remember([]string{sheltered + sealed}, []string{text})
	return sheltered + sealed, nil
}

// EncryptAhead implements [secrets.Batch].
func (s shelter) EncryptAhead(ctx context.Context, texts []string) error {
	if s.keys.isAway() {
		return nil
	}
	err := s.keys.EncryptAhead(ctx, texts)
	if api.IsAway(err) {
		s.keys.setAway(true)
		return nil
	}
	return err
}

// DecryptAhead implements [secrets.Batch].
func (s shelter) DecryptAhead(ctx context.Context, sealed []string) error {
	return s.keys.DecryptAhead(ctx, sealed)
}

var _ secrets.Batch = shelter{}

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
func (c *core) localKey(ctx context.Context, organization string) (*secrets.Key, error) {
	all, err := c.copiesOf(ctx, organization)
	if err != nil {
		return nil, err
	}
	raw, _, err := all.dir.Read(ctx, shelterKey)
	if errors.Is(err, fs.ErrNotExist) {
		raw = secrets.NewRawKey()
		if _, err = all.dir.Write(ctx, shelterKey, raw, store.IfAbsent()); errors.Is(err, store.ErrConflict) {
			raw, _, err = all.dir.Read(ctx, shelterKey) // another process was faster
		}
	}
	if err != nil {
		return nil, err
	}
	k, err := secrets.NewKey(raw)
	if err != nil {
		err = fmt.Errorf("%s: %w", all.dir.Name(shelterKey), err)
	}
	return k, err
}

// openSheltered opens the ciphertexts of this machine, and returns the others.
func (k *keys) openSheltered(ctx context.Context, sealed []string) (others []string, err error) {
	for _, s := range sealed {
		text, is := strings.CutPrefix(s, sheltered)
		if !is {
			others = append(others, s)
			continue
		}
		own, err := k.backend.localKey(ctx, k.stack.Organization)
		if err != nil {
			return nil, err
		}
		plain, err := own.Decrypt(ctx, text)
		if err != nil {
			return nil, fmt.Errorf("a secret was encrypted on another machine, while the service was away: %w", err)
		}
		k.remember([]string{s}, []string{plain})
	}
	return others, nil
}

// delivered returns the text of a state, or of a part of one, with ciphertexts of the service in place of those of this machine. Equal ones stay
// equal.
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
	own := slices.DeleteFunc(secretsIn(text), func(sealed string) bool { return !strings.HasPrefix(sealed, sheltered) })
	there, err := k.deliver(ctx, own)
	if err != nil {
		return nil, err
	}
	var pairs []string
	for i, sealed := range own {
		pairs = append(pairs, `"`+sealed+`"`, `"`+there[i]+`"`)
	}
	return []byte(strings.NewReplacer(pairs...).Replace(string(text))), nil
}

// deliver returns ciphertexts of the service in place of those of this machine.
func (k *keys) deliver(ctx context.Context, own []string) ([]string, error) {
	if err := k.open(ctx, own); err != nil {
		return nil, err
	}
	var texts []string // of those that the service has not encrypted yet
	k.mu.Lock()
	for _, sealed := range own {
		if _, known := k.there[sealed]; !known {
			texts = append(texts, k.plain[sealed])
		}
	}
	k.mu.Unlock()
	if err := secrets.EncryptAhead(ctx, k, texts); err != nil {
		return nil, err
	}
	all := make([]string, len(own))
	for i, sealed := range own {
		var err error
		if all[i], err = k.deliverOne(ctx, sealed); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func (k *keys) deliverOne(ctx context.Context, sealed string) (string, error) {
	k.mu.Lock()
	there, known := k.there[sealed]
	plain := k.plain[sealed]
	k.mu.Unlock()
	if known {
		return there, nil
	}
	there, err := k.Encrypt(ctx, plain)
	if err != nil {
		return "", err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.there[sealed], k.away = there, false
	return there, nil
}
