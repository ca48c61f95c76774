package service

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"

	"github.com/sluice-iac/sluice/advice"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/state/backend"
	"github.com/sluice-iac/sluice/state/backend/internal/sealing"
	"github.com/sluice-iac/sluice/state/backend/service/internal/api"
	"github.com/sluice-iac/sluice/state/lock"
	"github.com/sluice-iac/sluice/state/secrets"
	"github.com/sluice-iac/sluice/state/store"
)

// stack is a stack of the service. Handles that differ only in their secrets share the lock.
type stack struct {
	subject subject
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
	workingCopy workingCopy
	stack       backend.Stack
	lock        backend.Lock
}

var _ backend.Stack = (*stack)(nil)

var (
	_ backend.Auditor     = (*stack)(nil)
	_ backend.Requirer    = (*stack)(nil)
	_ backend.EventKeeper = (*stack)(nil)
)

func (s *stack) sender() sender { return sender{s.subject} }

func (s *stack) locks() locks { return locks{s.subject} }

// Ref implements [backend.Stack].
func (s *stack) Ref() backend.Ref { return s.subject.Ref() }

// Named implements [backend.Stack].
func (s *stack) Named() (project, name string) { return s.subject.Named() }

// File implements [backend.Stack].
func (s *stack) File(ctx context.Context) string { return s.subject.File(ctx) }

// Tags implements [backend.Stack].
func (s *stack) Tags(ctx context.Context) (map[string]string, error) { return s.subject.Tags(ctx) }

// EditTags implements [backend.Stack].
func (s *stack) EditTags(ctx context.Context, edit func(tags map[string]string)) error {
	return s.subject.EditTags(ctx, edit)
}

// NoteDecryption implements [backend.Auditor].
func (s *stack) NoteDecryption(ctx context.Context, setting, command string) error {
	return s.subject.NoteDecryption(ctx, setting, command)
}

// History implements [backend.Stack].
func (s *stack) History(ctx context.Context) (updates []backend.Update, warnings []string, err error) {
	return s.subject.History(ctx)
}

// LastUpdate implements [backend.Stack].
func (s *stack) LastUpdate(ctx context.Context, accept func(backend.Update) bool) (*backend.Update, error) {
	return s.subject.LastUpdate(ctx, accept)
}

// RequiredPolicies implements [backend.Requirer].
func (s *stack) RequiredPolicies(ctx context.Context) ([]backend.RequiredPolicy, error) {
	return s.subject.RequiredPolicies(ctx)
}

// KeptEvents implements [backend.EventKeeper].
func (s *stack) KeptEvents(ctx context.Context, operation string, f backend.EventFilter, token string) (events []json.RawMessage, next string, err error) {
	return s.subject.KeptEvents(ctx, operation, f, token)
}

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
		return h.workingCopy.content(ctx)
	}
	return s.subject.download(ctx)
}

// view returns a stack with content as its state, and its store. It is for reading, and for trying an edit.
func (s *stack) view(ctx context.Context, content []byte) (backend.Stack, *memory, error) {
	copy := workingCopy{keys: keysOf(s.subject.ref)}
	m := &memory{contents: map[string][]byte{copy.keys.File(): content}}
	o := s.subject.backend.options.Options
	o.URL, o.Renamed, o.Environment, o.Passphrases = "memory://", nil, nil, s.subject.backend.passphrases()
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
	return h.stack.WithSecrets(s.subject.backend.shelter(s.secrets))
}

// openSecrets fetches all secrets in a state that the service has sealed.
func (s *stack) openSecrets(ctx context.Context, content []byte) error {
	summary, err := state.Summarise(content, s.subject.File(ctx))
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
	m, err := s.subject.backend.openKeys(ctx, p)
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
	v, _, err := s.view(ctx, []byte(`{"version":3,"checkpoint":{"latest":null}}`))
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
	summary, err := state.Summarise(content, s.subject.File(ctx))
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
		d, err = s.subject.backend.client.Export(ctx, s.subject.id(), version)
	}
	if api.Is(err, http.StatusNotFound) {
		now, err := s.subject.describe(ctx)
		return nil, errors.Join(err, &backend.VersionError{Stack: s.subject.ref.Name, Version: version, Last: now.Version})
	}
	if err != nil {
		return nil, err
	}
	if d.Deployment, err = s.subject.renamed(ctx, d.Deployment); err != nil {
		return nil, err
	}
	content, err := contentOf(s.subject.ref, d)
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

// Save implements [backend.Stack].
func (s *stack) Save(ctx context.Context, snapshot *state.Snapshot) error {
	h, _ := s.now()
	if h == nil {
		return &backend.NotLockedError{Ref: s.subject.ref}
	}
	return s.edit(ctx, h, func() error { return s.locked(h).Save(ctx, snapshot) })
}

// edit changes the working copy and then the state at the service. If the service refuses, nothing has changed.
func (s *stack) edit(ctx context.Context, h *held, change func() error) error {
	before, err := s.sender().announce(ctx, h, "")
	if err != nil {
		return err
	}
	if err := change(); err != nil {
		return errors.Join(err, s.sender().revert(ctx, h, before))
	}
	return s.sender().deliver(ctx, h, before)
}

// SaveMove implements [backend.Stack]. Both working copies are changed first, and then sent, that of the destination first. If it is cut off, the
// next command on one of the stacks sends the rest.
func (s *stack) SaveMove(ctx context.Context, own *state.Snapshot, dest backend.Stack, destState *state.Snapshot) error {
	to, is := dest.(*stack)
	if !is || to.subject.backend != s.subject.backend {
		return fmt.Errorf("nothing was moved: the stacks %s and %s are not of the same backend", s.subject.ref, dest.Ref())
	}
	from, _ := s.now()
	into, _ := to.now()
	if from == nil || into == nil {
		return &backend.NotLockedError{Ref: s.subject.ref}
	}
	there, err := to.sender().announce(ctx, into, "")
	if err != nil {
		return err
	}
	here, err := s.sender().announce(ctx, from, to.subject.ref.String())
	if err != nil {
		return errors.Join(err, to.sender().revert(ctx, into, there))
	}
	undo := func(err error) error {
		return errors.Join(err, to.sender().revert(ctx, into, there), s.sender().revert(ctx, from, here))
	}
	if from.workingCopy.copies == into.workingCopy.copies {
		err = s.locked(from).SaveMove(ctx, own, to.locked(into), destState)
	} else if err = to.locked(into).Save(ctx, destState); err == nil {
		err = s.locked(from).Save(ctx, own)
	}
	if err != nil {
		return undo(err)
	}
	if err := to.sender().send(ctx, into); err != nil && !api.IsAway(err) && !isDoubtful(err) {
		return undo(err)
	} else if err != nil {
		return &UnsentError{to.subject.ref, into.workingCopy.name(), err} // and the other one stays with it
	}
	if err := into.workingCopy.settled(ctx); err != nil {
		return err
	}
	if err := s.sender().deliver(ctx, from, here); err != nil {
		return fmt.Errorf("the resources are in stack %s, and still in stack %s: %w", to.subject.ref, s.subject.ref, err)
	}
	return nil
}

// Import implements [backend.Stack].
func (s *stack) Import(ctx context.Context, export []byte, force bool) (warnings []string, err error) {
	l, err := s.Lock(ctx, backend.LockOptions{Operation: "stack import"})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	h, _ := s.now()
	before, err := h.workingCopy.content(ctx)
	if err != nil {
		return nil, err
	}
	v, m, err := s.view(ctx, before)
	if err != nil {
		return nil, err
	}
	if warnings, err = v.Import(ctx, export, force); err != nil {
		return warnings, err
	}
	content, _, err := m.Read(ctx, h.workingCopy.keys.File())
	if err != nil {
		return warnings, err
	}
	return warnings, s.edit(ctx, h, func() error { return h.workingCopy.replace(ctx, content) })
}

// Record implements [backend.Stack]. Without a Begin before it, it begins an update.
func (s *stack) Record(ctx context.Context, base *state.Snapshot) (state.Recorder, error) {
	h, r := s.now()
	if h == nil {
		return nil, &backend.NotLockedError{Ref: s.subject.ref}
	}
	if r == nil {
		begun, err := s.Begin(ctx, backend.Operation{Kind: "update"})
		if err != nil {
			return nil, err
		}
		if required := begun.Policies(); len(required) > 0 {
			return nil, errors.Join(&PoliciesError{s.subject.ref, required}, begun.End(ctx, backend.Update{Result: backend.ResultFailed}))
		}
		_, r = s.now()
	}
	content, err := h.workingCopy.content(ctx)
	if err != nil {
		return nil, err
	}
	seal := sealing.Seal{Manager: s.secrets, Passphrases: s.subject.backend.passphrases().For(s.subject.ref.Project, s.subject.ref.Name)}
	if s.secrets != nil {
		seal.Manager = s.subject.backend.shelter(s.secrets)
	}
	f := &feed{run: r, ahead: func(ctx context.Context, resources ...*state.Resource) {
		_ = seal.Ahead(ctx, seal.Provider(providerOf(base)), resources...) // an error here occurs again when they are recorded
	}}
	if base != nil && seal.Provider(base.SecretsProvider).Identity() != base.SecretsProvider.Identity() {
		f.ahead(ctx, base.Resources...)
	}
	inner, err := s.locked(h).Record(ctx, base)
	if err != nil {
		return nil, err
	}
	if err := h.workingCopy.mark(ctx, unsent{Update: r.created.ID.ID, Version: r.lease.Version - 1}); err != nil {
		return nil, errors.Join(err, inner.Close(ctx))
	}
	later, stop := context.WithCancel(context.WithoutCancel(ctx))
	f.Recorder, f.stop = inner, stop
	if r.lease.Journal == api.JournalVersion {
		if f.journal, err = newJournal(later, r, s, base, state.Digest(content)); err != nil {
			stop()
			return nil, errors.Join(err, inner.Close(ctx))
		}
		return f, nil
	}
	f.work.Go(func() { f.follow(later) })
	return f, nil
}

// Lock implements [backend.Stack]. It excludes other processes of this machine; the service excludes those of other machines, from Begin
// on.
func (s *stack) Lock(ctx context.Context, o backend.LockOptions) (backend.Lock, error) {
	h, fresh, err := s.sender().take(ctx, o)
	if err != nil {
		return nil, err
	}
	if err := s.sender().bringUp(ctx, h, fresh); err != nil {
		return nil, errors.Join(err, h.lock.Close())
	}
	s.shared.mu.Lock()
	defer s.shared.mu.Unlock()
	s.shared.held = h
	return &ownLock{h.lock, s, h}, nil
}

// settle sends the unsent changes of an operation that has ended, unless another process works on the stack.
func (s *stack) settle(ctx context.Context) error {
	c, err := s.subject.backend.copyOf(ctx, s.subject.ref)
	if err != nil {
		return err
	}
	if left, err := c.unsent(ctx); err != nil || left == nil {
		return err
	}
	l, err := s.Lock(ctx, backend.LockOptions{Operation: "recovery"})
	var overtaken *OvertakenError
	switch {
	case errors.As(err, new(*lock.HeldError)):
		return nil // the process with the lock sends it
	case errors.As(err, &overtaken), errors.As(err, new(*BusyError)):
		if s.subject.backend.options.Note != nil {
			s.subject.backend.options.Note(err.Error(), advice.Of(err)...)
		}
		return nil // the stack can be read; a command that changes it returns the error again
	case err != nil:
		return err
	}
	return l.Close()
}

// Locks implements [backend.Stack].
func (s *stack) Locks(ctx context.Context) ([]lock.Held, error) { return s.locks().all(ctx) }

// BreakLocks implements [backend.Stack].
func (s *stack) BreakLocks(ctx context.Context, all []lock.Held) (int, error) {
	return s.locks().breakAll(ctx, all)
}

// DiscardJournal implements [backend.Stack].
func (s *stack) DiscardJournal(ctx context.Context) (where string, err error) {
	c, err := s.subject.backend.copyOf(ctx, s.subject.ref)
	if err != nil {
		return "", err
	}
	left, err := c.unsent(ctx)
	if err != nil || left == nil {
		return "", err
	}
	h, _, err := s.sender().take(ctx, backend.LockOptions{Operation: "recovery"})
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, h.lock.Close()) }()
	content, err := h.workingCopy.content(ctx)
	if err != nil {
		return "", err
	}
	if where, err = h.workingCopy.setAside(ctx, content, s.subject.backend.options.Now().UnixNano()); err != nil {
		return "", err
	}
	return where, errors.Join(h.workingCopy.settled(ctx), h.workingCopy.remove(ctx))
}

// forget removes the working copy of a stack that is gone, with its unsent changes.
func (s *stack) forget(ctx context.Context) error {
	c, err := s.subject.backend.copyOf(ctx, s.subject.ref)
	if err != nil {
		return err
	}
	return errors.Join(c.settled(ctx), c.remove(ctx))
}

// Begin implements [backend.Stack].
func (s *stack) Begin(ctx context.Context, o backend.Operation) (backend.Run, error) {
	h, before := s.now()
	switch {
	case !o.Preview && h == nil:
		return nil, &backend.NotLockedError{Ref: s.subject.ref}
	case !o.Preview && before != nil:
		return nil, &backend.RecordingError{Ref: s.subject.ref}
	}
	r := &run{stack: s, preview: o.Preview, onLost: o.OnLost}
	if !o.Preview {
		r.held = h
	}
	if err := r.start(ctx, o); err != nil {
		return nil, err
	}
	if !o.Preview {
		if err := r.own(ctx); err != nil {
			return nil, errors.Join(err, r.abandon(context.WithoutCancel(ctx)))
		}
	}
	return r, nil
}

// WriteHistory implements [backend.Stack]. It ends the operation that has begun: its record is that of the service.
func (s *stack) WriteHistory(ctx context.Context, u backend.Update) error {
	if _, r := s.now(); r != nil {
		return r.End(ctx, u)
	}
	return nil
}
