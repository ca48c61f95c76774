package service

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"sync"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/state/backend"
	"github.com/sluice-iac/sluice/state/backend/service/internal/api"
	"github.com/sluice-iac/sluice/state/secrets"
	"github.com/sluice-iac/sluice/state/store"
)

// stack is a stack of the service. Handles that differ only in their secrets share the lock.
type stack struct {
	subject
	secrets secrets.Manager
	lenient bool // a secret that cannot be opened is unavailable instead of an error
	shared  *shared
	kept    *api.StackConfig // nil if the service does not keep the settings
}

// shared is the state that the handles of a stack share.
type shared struct {
	mu   sync.Mutex // guards the fields below
	held *held      // nil while the handle does not hold the lock
	run  *run       // the operation that has begun, nil if none has
}

// held is the working copy of a locked stack.
type held struct {
	workingCopy
	stack backend.Stack
	lock  backend.Lock
}

var _ backend.Stack = (*stack)(nil)

var (
	_ backend.Auditor  = (*stack)(nil)
	_ backend.Requirer = (*stack)(nil)
)

// KeptSettings returns the settings that the service keeps for the stack, in the form of a configuration file, and the name of their environment; ""
// if it keeps none.
func (s *stack) KeptSettings() (file []byte, environment string, err error) {
	if s.kept == nil || s.kept.Environment == "" {
		return nil, "", nil
	}
	file, err = json.Marshal(struct {
		Environment     []string `json:"environment"`
		SecretsProvider string   `json:"secretsprovider,omitempty"`
		EncryptedKey    string   `json:"encryptedkey,omitempty"`
		EncryptionSalt  string   `json:"encryptionsalt,omitempty"`
	}{[]string{s.kept.Environment}, s.kept.SecretsProvider, s.kept.EncryptedKey, s.kept.EncryptionSalt})
	return file, s.kept.Environment, err
}

// Readable implements [backend.Stack].
func (s *stack) Readable() backend.Stack {
	c := *s
	c.lenient = true
	return &c
}

// WithSecrets implements [backend.Stack].
func (s *stack) WithSecrets(m secrets.Manager) backend.Stack {
	c := *s
	c.secrets = m
	return &c
}

func (s *stack) now() (*held, *run) {
	s.shared.mu.Lock()
	defer s.shared.mu.Unlock()
	return s.shared.held, s.shared.run
}

// content returns the state: the working copy if the stack is locked, else the state of the service.
func (s *stack) content(ctx context.Context) ([]byte, error) {
	if h, _ := s.now(); h != nil {
		return h.content(ctx)
	}
	return s.download(ctx)
}

// view returns a stack with content as its state, and its store. It is for reading, and for trying an edit.
func (s *stack) view(ctx context.Context, content []byte) (backend.Stack, *memory, error) {
	copy := workingCopy{keys: keysOf(s.ref)}
	m := &memory{contents: map[string][]byte{copy.keys.File(): content}}
	o := s.backend.options.Options
	o.URL, o.Renamed, o.Environment, o.Passphrases = "memory://", nil, nil, s.backend.passphrases()
	o.Stores = map[string]store.Opener{
		"memory": func(context.Context, string, func(string) (string, bool)) (store.Store, error) { return m, nil },
	}
	b, err := backend.Open(ctx, o)
	if err != nil {
		return nil, nil, err
	}
	v, err := b.Open(ctx, copy.ref())
	if err == nil && s.secrets != nil {
		v = v.WithSecrets(s.secrets)
	}
	if err == nil && s.lenient {
		v = v.Readable()
	}
	return v, m, err
}

// reading returns the present stack, for reading. With opened set its secrets will be opened, and are fetched at once.
func (s *stack) reading(ctx context.Context, opened bool) (backend.Stack, error) {
	content, err := s.content(ctx)
	if err != nil {
		return nil, err
	}
	if opened {
		if err := s.openSecrets(ctx, content); err != nil && !s.lenient {
			return nil, err
		}
	}
	if h, _ := s.now(); h != nil {
		return s.locked(h), nil
	}
	v, _, err := s.view(ctx, content)
	return v, err
}

// locked returns the working copy with the secrets of this handle.
func (s *stack) locked(h *held) backend.Stack {
	if s.secrets == nil {
		return h.stack
	}
	return h.stack.WithSecrets(s.backend.shelter(s.secrets))
}

// openSecrets fetches all secrets in a state that the service has sealed.
func (s *stack) openSecrets(ctx context.Context, content []byte) error {
	summary, err := state.Summarise(content, s.File(ctx))
	if err != nil {
		return nil // the decoder of the state returns the error
	}
	return s.openAll(ctx, summary.SecretsProvider, secretsIn(content))
}

// openAll fetches secrets that p has sealed, if that is the service.
func (s *stack) openAll(ctx context.Context, p *state.SecretsProvider, sealed []string) error {
	if p == nil || p.Type != secrets.TypeService {
		return nil
	}
	m, err := s.backend.openKeys(ctx, p)
	if err != nil {
		return nil // opening one of them returns the error
	}
	switch k := m.(type) {
	case *recordedKeys:
		return k.open(ctx, sealed)
	case *keys:
		return k.open(ctx, sealed)
	}
	return nil // another service has sealed them, which is called for each one
}

// Load implements [backend.Stack].
func (s *stack) Load(ctx context.Context) (*state.Snapshot, error) {
	v, err := s.reading(ctx, true)
	if err != nil {
		return nil, err
	}
	return v.Load(ctx)
}

// LoadSealed implements [backend.Stack].
func (s *stack) LoadSealed(ctx context.Context) (*state.Snapshot, error) {
	v, err := s.reading(ctx, false)
	if err != nil {
		return nil, err
	}
	return v.LoadSealed(ctx)
}

// Check implements [backend.Stack].
func (s *stack) Check(ctx context.Context, snapshot *state.Snapshot) error {
	v, _, err := s.view(ctx, []byte(`{"version":3,"checkpoint":{}}`))
	if err != nil {
		return err
	}
	return v.Check(ctx, snapshot)
}

// Revision implements [backend.Stack].
func (s *stack) Revision(ctx context.Context) (string, error) {
	content, err := s.content(ctx)
	return state.Digest(content), err
}

// SecretsProvider implements [backend.Stack].
func (s *stack) SecretsProvider(ctx context.Context) (*state.SecretsProvider, error) {
	content, err := s.content(ctx)
	if err != nil {
		return nil, err
	}
	summary, err := state.Summarise(content, s.File(ctx))
	return summary.SecretsProvider, err
}

// Outputs implements [backend.Stack].
func (s *stack) Outputs(ctx context.Context, sealed bool) (property.Map, error) {
	v, err := s.reading(ctx, false)
	if err != nil {
		return property.Map{}, err
	}
	if sealed {
		return v.Outputs(ctx, true)
	}
	// Only those of the outputs are opened, in one call.
	kept, err := v.Outputs(ctx, true)
	if err != nil {
		return property.Map{}, err
	}
	p, err := v.SecretsProvider(ctx)
	if err != nil {
		return property.Map{}, err
	}
	if text, err := property.EncodeState(ctx, kept, property.StateOptions{Crypter: p.Identity()}); err == nil && len(secretsIn(text)) > 1 {
		if err := s.openAll(ctx, p, secretsIn(text)); err != nil && !s.lenient {
			return property.Map{}, err
		}
	}
	return v.Outputs(ctx, false)
}

// Export implements [backend.Stack].
func (s *stack) Export(ctx context.Context, showSecrets bool) ([]byte, error) {
	v, err := s.reading(ctx, showSecrets)
	if err != nil {
		return nil, err
	}
	return v.Export(ctx, showSecrets)
}

// ExportVersion implements [backend.Stack].
func (s *stack) ExportVersion(ctx context.Context, version int, showSecrets bool) ([]byte, error) {
	var d api.Deployment
	err := error(&api.AnswerError{Status: http.StatusNotFound})
	if version > 0 {
		d, err = s.backend.client.Export(ctx, s.id(), version)
	}
	if api.Is(err, http.StatusNotFound) {
		now, err := s.describe(ctx)
		return nil, errors.Join(err, &backend.VersionError{Stack: s.ref.Name, Version: version, Last: now.Version})
	}
	if err != nil {
		return nil, err
	}
	if d.Deployment, err = s.renamed(ctx, d.Deployment); err != nil {
		return nil, err
	}
	content, err := contentOf(s.ref, d)
	if err != nil {
		return nil, err
	}
	if showSecrets {
		if err := s.openSecrets(ctx, content); err != nil {
			return nil, err
		}
	}
	v, _, err := s.view(ctx, content)
	if err != nil {
		return nil, err
	}
	return v.Export(ctx, showSecrets)
}
