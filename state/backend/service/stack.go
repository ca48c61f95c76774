package service

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

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
	_ backend.Auditor  = (*stack)(nil)
	_ backend.Requirer = (*stack)(nil)
)

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
	before, err := s.announce(ctx, h, "")
	if err != nil {
		return err
	}
	if err := change(); err != nil {
		return errors.Join(err, s.revert(ctx, h, before))
	}
	return s.deliver(ctx, h, before)
}

// announce marks a working copy as one with unsent changes, unless another update of the stack runs, and returns its content. The working copy of
// the stack after is sent first; after may be "".
func (s *stack) announce(ctx context.Context, h *held, after string) (before []byte, err error) {
	if before, err = h.workingCopy.content(ctx); err != nil {
		return nil, err
	}
	now, err := s.subject.describe(ctx)
	if err != nil {
		return nil, err
	}
	if now.Current != nil {
		return nil, &BusyError{s.subject.ref, now.Current.Kind, now.Current.Author}
	}
	return before, h.workingCopy.mark(ctx, unsent{Version: now.Version, After: after})
}

// deliver sends an edited working copy. If the service refuses it, the edit is reverted.
func (s *stack) deliver(ctx context.Context, h *held, before []byte) error {
	err := s.send(ctx, h)
	switch {
	case err == nil:
		return h.workingCopy.settled(ctx)
	case api.IsAway(err), isDoubtful(err):
		return &UnsentError{s.subject.ref, h.workingCopy.name(), err}
	}
	return errors.Join(err, s.revert(ctx, h, before))
}

// revert restores the content of a working copy before an edit.
func (s *stack) revert(ctx context.Context, h *held, before []byte) error {
	return errors.Join(h.workingCopy.replace(ctx, before), h.workingCopy.settled(ctx))
}

// send makes the working copy the state at the service.
func (s *stack) send(ctx context.Context, h *held) error {
	content, err := h.workingCopy.content(ctx)
	if err != nil {
		return err
	}
	d, err := s.subject.outgoing(ctx, content)
	if err != nil {
		return err
	}
	return s.subject.upload(ctx, d)
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
	there, err := to.announce(ctx, into, "")
	if err != nil {
		return err
	}
	here, err := s.announce(ctx, from, to.subject.ref.String())
	if err != nil {
		return errors.Join(err, to.revert(ctx, into, there))
	}
	undo := func(err error) error {
		return errors.Join(err, to.revert(ctx, into, there), s.revert(ctx, from, here))
	}
	if from.workingCopy.copies == into.workingCopy.copies {
		err = s.locked(from).SaveMove(ctx, own, to.locked(into), destState)
	} else if err = to.locked(into).Save(ctx, destState); err == nil {
		err = s.locked(from).Save(ctx, own)
	}
	if err != nil {
		return undo(err)
	}
	if err := to.send(ctx, into); err != nil && !api.IsAway(err) && !isDoubtful(err) {
		return undo(err)
	} else if err != nil {
		return &UnsentError{to.subject.ref, into.workingCopy.name(), err} // and the other one stays with it
	}
	if err := into.workingCopy.settled(ctx); err != nil {
		return err
	}
	if err := s.deliver(ctx, from, here); err != nil {
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
	h, fresh, err := s.take(ctx, o)
	if err != nil {
		return nil, err
	}
	if err := s.bringUp(ctx, h, fresh); err != nil {
		return nil, errors.Join(err, h.lock.Close())
	}
	s.shared.mu.Lock()
	defer s.shared.mu.Unlock()
	s.shared.held = h
	return &ownLock{h.lock, s, h}, nil
}

// take locks the working copy. fresh is the state of the service, if it was read for that.
func (s *stack) take(ctx context.Context, o backend.LockOptions) (h *held, fresh []byte, err error) {
	c, err := s.subject.backend.copyOf(ctx, s.subject.ref)
	if err != nil {
		return nil, nil, err
	}
	w, err := c.open(ctx, func() ([]byte, error) {
		fresh, err = s.subject.download(ctx)
		return fresh, err
	})
	if err != nil {
		return nil, nil, err
	}
	l, err := w.Lock(ctx, o)
	if err != nil {
		return nil, nil, err
	}
	return &held{c, w, l}, fresh, nil
}

// bringUp sends the unsent changes of an earlier operation, and then makes the working copy equal to the state of the service. If the working copy
// was just made from that state, fresh, no other process has changed it.
func (s *stack) bringUp(ctx context.Context, h *held, fresh []byte) error {
	left, err := h.workingCopy.unsent(ctx)
	if err != nil {
		return err
	}
	if present, err := h.workingCopy.content(ctx); err == nil && left == nil && fresh != nil && bytes.Equal(present, fresh) {
		return nil
	}
	if err := s.sendLeft(ctx, h); err != nil {
		return err
	}
	content, err := s.subject.download(ctx)
	if err != nil {
		return err
	}
	return h.workingCopy.replace(ctx, content)
}

// sendLeft sends the unsent changes of an operation that has ended. If the operation was cut off, its update at the service is ended.
func (s *stack) sendLeft(ctx context.Context, h *held) error {
	left, err := h.workingCopy.unsent(ctx)
	if err != nil || left == nil {
		return err
	}
	now, err := s.subject.describe(ctx)
	if err != nil {
		return &UnsentError{s.subject.ref, h.workingCopy.name(), err}
	}
	ours := left.Update != "" && now.ActiveUpdate == left.Update
	switch {
	case ours && now.Current != nil:
		// The process of the update has ended: this process has the lock of its working copy.
		if err := s.subject.backend.client.Cancel(ctx, api.UpdateID{Stack: s.subject.id(), ID: left.Update}); err != nil {
			return &UnsentError{s.subject.ref, h.workingCopy.name(), err}
		}
	case now.Current != nil:
		return &BusyError{s.subject.ref, now.Current.Kind, now.Current.Author}
	case !ours && now.Version != left.Version && !left.Sent:
		content, err := h.workingCopy.content(ctx)
		if err != nil {
			return err
		}
		if left.Sent, err = s.subject.has(ctx, content); err != nil {
			return &UnsentError{s.subject.ref, h.workingCopy.name(), err}
		}
		if !left.Sent {
			return &OvertakenError{s.subject.ref, h.workingCopy.name()}
		}
	}
	if err := s.precede(ctx, left.After); err != nil {
		return &UnsentError{s.subject.ref, h.workingCopy.name(), err}
	}
	if !left.Sent {
		if err := s.send(ctx, h); err != nil {
			return &UnsentError{s.subject.ref, h.workingCopy.name(), err}
		}
		s.subject.backend.note("what the last operation on stack %s recorded on this machine has been sent to the service", s.subject.ref.Name)
	}
	return h.workingCopy.settled(ctx)
}

// precede sends the working copy of a stack that has received resources of this one. Its name may be "".
func (s *stack) precede(ctx context.Context, name string) error {
	parts := strings.Split(name, "/")
	if len(parts) != 3 {
		return nil
	}
	other := &stack{subject: subject{s.subject.backend, backend.Ref{Owner: parts[0], Project: parts[1], Name: parts[2]}}, shared: &shared{}}
	if err := other.settle(ctx); err != nil {
		return err
	}
	c, err := s.subject.backend.copyOf(ctx, other.subject.ref)
	if err != nil {
		return err
	}
	if left, err := c.unsent(ctx); err != nil || left != nil {
		return errors.Join(err, fmt.Errorf("the resources that were moved to stack %s have not been sent yet", other.subject.ref))
	}
	return nil
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

// toolService is the tool in a lock that represents a running update at the service.
const toolService = "service"

// Locks implements [backend.Stack].
func (s *stack) Locks(ctx context.Context) ([]lock.Held, error) {
	now, err := s.subject.describe(ctx)
	if err != nil {
		return nil, err
	}
	var all []lock.Held
	if now.Current != nil {
		place := fmt.Sprintf("%s, update %s", s.subject.File(ctx), now.ActiveUpdate)
		all = append(all, lock.Held{Path: place, URL: place, Owner: lock.Owner{
			Username: now.Current.Author, Hostname: s.subject.backend.host(), Timestamp: time.Unix(now.Current.Started, 0), Tool: toolService,
			Lease: lock.Lease{Operation: now.Current.Kind},
		}})
	}
	own, err := s.ownLocks(ctx)
	return append(all, own...), err
}

// ownLocks are the locks of the working copy.
func (s *stack) ownLocks(ctx context.Context) ([]lock.Held, error) {
	c, err := s.subject.backend.copyOf(ctx, s.subject.ref)
	if err != nil {
		return nil, err
	}
	there, err := c.copies.dir.Stat(ctx, c.keys.File())
	if err != nil || len(there) == 0 {
		return nil, err
	}
	w, err := c.copies.files.Open(ctx, c.ref())
	if err != nil {
		return nil, err
	}
	return w.Locks(ctx)
}

// BreakLocks implements [backend.Stack].
func (s *stack) BreakLocks(ctx context.Context, all []lock.Held) (int, error) {
	var own []lock.Held
	n := 0
	for _, l := range all {
		if l.Owner.Tool != toolService {
			own = append(own, l)
			continue
		}
		now, err := s.subject.describe(ctx)
		if err != nil {
			return n, err
		}
		if now.Current == nil || now.Current.Started != l.Owner.Timestamp.Unix() {
			continue // it has ended, and another one may have begun
		}
		if err := s.subject.backend.client.Cancel(ctx, api.UpdateID{Stack: s.subject.id(), ID: now.ActiveUpdate}); err != nil {
			return n, err
		}
		n++
	}
	if len(own) == 0 {
		return n, nil
	}
	c, err := s.subject.backend.copyOf(ctx, s.subject.ref)
	if err != nil {
		return n, err
	}
	w, err := c.copies.files.Open(ctx, c.ref())
	if err != nil {
		return n, err
	}
	broken, err := w.BreakLocks(ctx, own)
	return n + broken, err
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
	h, _, err := s.take(ctx, backend.LockOptions{Operation: "recovery"})
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
			return nil, errors.Join(err, r.complete(context.WithoutCancel(ctx), api.Failed))
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
