package service

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/state/backend"
	"github.com/sluice-iac/sluice/state/backend/service/internal/api"
	"github.com/sluice-iac/sluice/state/secrets"
)

// keyState is what a state records of the key of a stack at the service.
type keyState struct {
	URL      string `json:"url,omitempty"`
	Owner    string `json:"owner"`
	Project  string `json:"project"`
	Stack    string `json:"stack"`
	Insecure bool   `json:"insecure,omitempty"`
}

// keys encrypts the secrets of one stack with the key that the service keeps for it. What it has opened or sealed it remembers.
type keys struct {
	backend  *core
	stack    api.StackID
	provider *state.SecretsProvider

	mu    sync.Mutex        // guards what follows
	plain map[string]string // by ciphertext
	there map[string]string // ciphertexts of the service for those of this machine
	away  bool              // the service could not encrypt
}

var _ secrets.Manager = (*keys)(nil)

func newKeys(b *core, s api.StackID) *keys {
	raw, err := json.Marshal(keyState{
		URL: b.client.URL(), Owner: s.Organization, Project: s.Project, Stack: s.Name, Insecure: b.client.Insecure(),
	})
	if err != nil {
		panic(err) // a struct of texts always marshals
	}
	return &keys{backend: b, stack: s, provider: &state.SecretsProvider{Type: secrets.TypeService, State: raw}, plain: map[string]string{}, there: map[string]string{}}
}

// Provider implements [secrets.Manager].
func (k *keys) Provider() *state.SecretsProvider { return k.provider }

// Encrypter implements [secrets.Manager].
func (k *keys) Encrypter() property.Encrypter { return k }

// Decrypter implements [secrets.Manager].
func (k *keys) Decrypter() property.Decrypter { return k }

// Encrypt implements [property.Encrypter].
func (k *keys) Encrypt(ctx context.Context, text string) (string, error) {
	sealed, err := k.backend.client.Encrypt(ctx, k.stack, false, text)
	if err != nil {
		return "", err
	}
	k.remember(sealed, []string{text})
	return sealed[0], nil
}

// Decrypt implements [property.Decrypter].
func (k *keys) Decrypt(ctx context.Context, sealed string) (string, error) {
	if text, known := k.known(sealed); known {
		return text, nil
	}
	if err := k.open(ctx, []string{sealed}); err != nil {
		return "", err
	}
	text, _ := k.known(sealed)
	return text, nil
}

func (k *keys) known(sealed string) (string, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	text, known := k.plain[sealed]
	return text, known
}

func (k *keys) remember(sealed, texts []string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for i, s := range sealed {
		k.plain[s] = texts[i]
	}
}

// batch is how many secrets are opened by one call.
const batch = 500

// open opens secrets that are not known yet, many at once.
func (k *keys) open(ctx context.Context, sealed []string) error {
	sealed = slices.DeleteFunc(slices.Clone(sealed), func(s string) bool { _, known := k.known(s); return known })
	sealed, err := k.openSheltered(ctx, sealed)
	if err != nil {
		return err
	}
	for some := range slices.Chunk(sealed, batch) {
		texts, err := k.backend.client.Decrypt(ctx, k.stack, some...)
		if err != nil {
			return err
		}
		k.remember(some, texts)
	}
	return nil
}

// keysOf returns the keys of a stack, the same ones each time.
func (c *core) keysOf(s api.StackID) *keys {
	c.mu.Lock()
	defer c.mu.Unlock()
	k := c.keys[s]
	if k == nil {
		k = newKeys(c, s)
		c.keys[s] = k
	}
	return k
}

// openKeys returns the manager that a state names. A stack that was renamed has states that name it as it was called.
func (c *core) openKeys(_ context.Context, p *state.SecretsProvider) (secrets.Manager, error) {
	var s keyState
	if err := json.Unmarshal(p.State, &s); err != nil {
		return nil, fmt.Errorf("the state of the service's secrets provider: %w", err)
	}
	if s.URL != "" && s.URL != c.client.URL() {
		return nil, fmt.Errorf("the secrets are encrypted by another service, %s; this one is %s", backend.MaskURL(s.URL), c.client.URL())
	}
	k := c.keysOf(api.StackID{Organization: s.Owner, Project: s.Project, Name: s.Stack})
	if k.provider.Identity() != p.Identity() { // other bytes that mean the same
		return &recordedKeys{k, p}, nil
	}
	return k, nil
}

// recordedKeys are keys as a state records them.
type recordedKeys struct {
	*keys
	recorded *state.SecretsProvider
}

// Provider implements [secrets.Manager].
func (k *recordedKeys) Provider() *state.SecretsProvider { return k.recorded }
