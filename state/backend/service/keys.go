package service

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/sluice-iac/sluice/pipeline/await"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/state/backend/service/internal/api"
	"github.com/sluice-iac/sluice/state/secrets"
)

// keyState is the description of a stack's key in a state.
type keyState struct {
	URL      string `json:"url,omitempty"`
	Owner    string `json:"owner"`
	Project  string `json:"project"`
	Stack    string `json:"stack"`
	Insecure bool   `json:"insecure,omitempty"`
}

// keys encrypts the secrets of one stack with the key that the service keeps for it. It caches all secrets that it has opened or sealed. Simultaneous
// requests share one call, if the service takes batches.
type keys struct {
	backend  *core
	stack    api.StackID
	provider *state.SecretsProvider
	turns    *await.Slots // of calls that encrypt

	mu       sync.Mutex          // guards the fields below
	plain    map[string]string   // by ciphertext
	ready    map[string][]string // ciphertexts that were made ahead, by text
	waiting  []*wanted
	oneByOne bool              // whether the service takes no batches
	there    map[string]string // ciphertexts of the service for those of this machine
	away     bool              // whether the service could not encrypt
}

// wanted is a ciphertext that a caller waits for.
type wanted struct {
	text   string
	sealed *await.Promise[string]
}

// turns is the number of simultaneous calls that encrypt.
const turns = 4

var (
	_ secrets.Manager = (*keys)(nil)
	_ secrets.Batch   = (*keys)(nil)
)

// Provider implements [secrets.Manager].
func (k *keys) Provider() *state.SecretsProvider { return k.provider }

// Encrypter implements [secrets.Manager].
func (k *keys) Encrypter() property.Encrypter { return k }

// Decrypter implements [secrets.Manager].
func (k *keys) Decrypter() property.Decrypter { return k }

// Encrypt implements [property.Encrypter].
func (k *keys) Encrypt(ctx context.Context, text string) (string, error) {
	for {
		if sealed, is := k.takeReady(text); is {
			return sealed, nil
		}
		if k.isOneByOne() {
			return k.seal(ctx, text)
		}
		w := k.want(text)
		if err := k.turns.Acquire(ctx); err != nil {
			return "", err
		}
		k.serve(ctx, w)
		k.turns.Release()
		sealed, err := w.sealed.Wait(ctx)
		if !errors.Is(err, errAgain) {
			return sealed, err
		}
	}
}

// errAgain makes a caller try again, because another one's call failed for a reason of its own.
var errAgain = errors.New("ask again")

func (k *keys) want(text string) *wanted {
	w := &wanted{text, await.NewPromise[string]()}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.waiting = append(k.waiting, w)
	return w
}

// serve encrypts the waiting texts, unless w is no longer among them.
func (k *keys) serve(ctx context.Context, w *wanted) {
	k.mu.Lock()
	if !slices.Contains(k.waiting, w) {
		k.mu.Unlock()
		return
	}
	all := k.waiting
	k.waiting = nil
	k.mu.Unlock()
	if len(all) == 1 {
		sealed, err := k.seal(ctx, w.text)
		w.sealed.Decide(sealed, err)
		return
	}
	texts := make([]string, len(all))
	for i, one := range all {
		texts[i] = one.text
	}
	sealed, err := k.sealAll(ctx, texts)
	for i, one := range all {
		switch {
		case err == nil:
			one.sealed.Resolve(sealed[i])
		case errors.Is(err, api.ErrOneByOne), ctx.Err() != nil && one != w: // the reason concerns only the caller that made the call
			one.sealed.Fail(errAgain)
		default:
			one.sealed.Fail(err)
		}
	}
}

// seal encrypts one text.
func (k *keys) seal(ctx context.Context, text string) (string, error) {
	sealed, err := k.backend.client.Secrets(k.stack).Encrypt(ctx, text)
	if err == nil {
		k.remember([]string{sealed}, []string{text})
	}
	return sealed, err
}

// sealAll encrypts texts. The error may be [api.ErrOneByOne], which is stored.
func (k *keys) sealAll(ctx context.Context, texts []string) ([]string, error) {
	can, err := k.backend.capabilities(ctx)
	var sealed []string
	switch {
	case err != nil:
	case !can.BatchEncrypt:
		err = api.ErrOneByOne
	default:
		sealed, err = k.backend.client.Secrets(k.stack).EncryptAll(ctx, texts)
	}
	if err == nil {
		k.remember(sealed, texts)
	}
	if errors.Is(err, api.ErrOneByOne) {
		k.mu.Lock()
		defer k.mu.Unlock()
		k.oneByOne = true
	}
	return sealed, err
}

func (k *keys) isOneByOne() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.oneByOne
}

// EncryptAhead implements [secrets.Batch].
func (k *keys) EncryptAhead(ctx context.Context, texts []string) error {
	if k.isOneByOne() {
		return nil
	}
	sealed, err := k.sealAll(ctx, texts)
	if err != nil {
		return unlessRefused(err)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	for i, text := range texts {
		k.ready[text] = append(k.ready[text], sealed[i])
	}
	return nil
}

// takeReady returns a ciphertext that was made ahead, to one caller only.
func (k *keys) takeReady(text string) (string, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	all := k.ready[text]
	switch len(all) {
	case 0:
		return "", false
	case 1:
		delete(k.ready, text)
	default:
		k.ready[text] = all[1:]
	}
	return all[0], true
}

// unlessRefused returns an error only if the service gave no answer. If it refuses a batch, single calls follow, whose errors are exact.
func unlessRefused(err error) error {
	if api.IsAway(err) || !errors.As(err, new(*api.AnswerError)) && !errors.Is(err, api.ErrOneByOne) {
		return err
	}
	return nil
}

// DecryptAhead implements [secrets.Batch].
func (k *keys) DecryptAhead(ctx context.Context, sealed []string) error {
	return unlessRefused(k.open(ctx, sealed))
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

// open opens secrets that are not in the cache, many at once if the service takes batches.
func (k *keys) open(ctx context.Context, sealed []string) error {
	sealed = slices.DeleteFunc(slices.Clone(sealed), func(s string) bool { _, known := k.known(s); return known })
	sealed, err := k.openSheltered(ctx, sealed)
	if err != nil || len(sealed) == 0 {
		return err
	}
	if len(sealed) > 1 {
		texts, err := k.backend.client.Secrets(k.stack).DecryptAll(ctx, sealed)
		if err == nil {
			k.remember(sealed, texts)
		}
		if !errors.Is(err, api.ErrOneByOne) {
			return err
		}
	}
	for _, one := range sealed {
		text, err := k.backend.client.Secrets(k.stack).Decrypt(ctx, one)
		if err != nil {
			return err
		}
		k.remember([]string{one}, []string{text})
	}
	return nil
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

// recordedKeys are keys as described in a state.
type recordedKeys struct {
	*keys
	recorded *state.SecretsProvider
}

// Provider implements [secrets.Manager].
func (k *recordedKeys) Provider() *state.SecretsProvider { return k.recorded }
