package backend

import (
	"context"
	"errors"
	"fmt"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/state/journal"
	"github.com/sluice-iac/sluice/state/store"
)

// encoder returns what writes a state whose secrets p is for. Sealed secrets of another provider cannot be written by
// it. A p that cannot be used still writes the ciphertexts that the state holds.
func (s *fileStack) encoder(ctx context.Context, p *state.SecretsProvider) *state.Encoder {
	o := state.EncoderOptions{Crypter: p.Identity()}
	if m, err := s.manager(ctx, p); err != nil {
		o.Encrypter = unusable{err}
	} else if m != nil {
		o.Encrypter = m.Encrypter()
	}
	return state.NewEncoder(o)
}

// unusable fails when there is a new secret to encrypt.
type unusable struct{ err error }

func (u unusable) Encrypt(context.Context, string) (string, error) { return "", u.err }

var _ property.Encrypter = unusable{}

// provider is what the next state names: that of the manager in use, else that of the present state.
func (s *fileStack) provider(present *state.SecretsProvider) *state.SecretsProvider {
	if s.secrets == nil || present != nil && s.secrets.Provider().Identity() == present.Identity() {
		return present
	}
	return s.secrets.Provider()
}

// Record implements [Stack]. The previous state stays in the .bak file: one file for the whole run.
func (s *fileStack) Record(ctx context.Context, base *state.Snapshot) (state.Recorder, error) {
	if err := s.backend.prepareWrite(ctx); err != nil {
		return nil, err
	}
	if err := state.CheckMutable(base); err != nil {
		return nil, err
	}
	content, err := s.content(ctx)
	if err != nil {
		return nil, err
	}
	if read := base.Origin(); read != "" && read != state.Digest(content) {
		return nil, fmt.Errorf("%s has been written by somebody else since it was read; nothing was done, try again", s.File(ctx))
	}
	var present *state.SecretsProvider
	if base != nil {
		present = base.SecretsProvider
	}
	o := s.backend.options
	p := s.provider(present)
	w, err := s.writer(ctx)
	if err != nil {
		return nil, err
	}
	ledger := state.NewLedger(base, state.LedgerOptions{Version: o.Version, Now: o.Now, SecretsProvider: p})
	checkpoint := state.CheckpointOptions{
		Stack: s.ref.String(), Encoder: s.encoder(ctx, p), SetAside: s.setAside, SkipIntegrity: o.SkipIntegrity, Save: w.save,
	}
	if o.Checkpoints == CheckpointsEveryStep {
		return state.NewCheckpointRecorder(ledger, checkpoint), nil
	}
	return journal.NewRecorder(journal.Options{
		Ledger: ledger, Base: base, Content: content, Secrets: p, Store: s.journal(), Checkpoint: checkpoint, Tool: o.Version, Now: o.Now,
		OnlyAtEnd: o.Checkpoints == CheckpointsAtEnd || s.backend.isTrue("PULUMI_SKIP_CHECKPOINTS"),
	}), nil
}

// content is what the stack file holds, nothing if there is none.
func (s *fileStack) content(ctx context.Context) ([]byte, error) {
	b, _, err := s.read(ctx)
	var missing *NotFoundError
	if errors.As(err, &missing) {
		return nil, nil
	}
	return b, err
}

// Save implements [Stack].
func (s *fileStack) Save(ctx context.Context, snapshot *state.Snapshot) error {
	if err := s.verify(snapshot); err != nil {
		return err
	}
	return s.save(ctx, snapshot)
}

// verify refuses to write a state that could not be read.
func (s *fileStack) verify(snapshot *state.Snapshot) error {
	if err := state.Verify(snapshot); err != nil && !s.backend.options.SkipIntegrity {
		return fmt.Errorf("the new state of stack %s was not written: %w", s.ref, err)
	}
	return nil
}

// encode makes the stack file of a state that keeps its manifest, its metadata and its pending operations.
func (s *fileStack) encode(ctx context.Context, snapshot *state.Snapshot) ([]byte, error) {
	if snapshot == nil {
		snapshot = &state.Snapshot{}
	}
	out := *snapshot
	out.SecretsProvider = s.provider(snapshot.SecretsProvider)
	return s.encoder(ctx, out.SecretsProvider).Checkpoint(ctx, s.ref.String(), &out)
}

func (s *fileStack) save(ctx context.Context, snapshot *state.Snapshot) error {
	if err := s.backend.prepareWrite(ctx); err != nil {
		return err
	}
	b, err := s.encode(ctx, snapshot)
	if err != nil {
		return err
	}
	w, err := s.writer(ctx)
	if err != nil {
		return err
	}
	return w.save(ctx, b)
}

// writer replaces the stack file, any number of times, as long as nobody else does: what somebody else has written
// meanwhile is never written over, whoever thinks to have the lock. It is for one goroutine at a time.
type writer struct {
	stack *fileStack
	last  store.Info // what was there when the writer was made, or what it wrote last
	begun bool       // the state before it has been kept
}

func (s *fileStack) writer(ctx context.Context) (*writer, error) {
	_, last, err := s.current(ctx)
	return &writer{stack: s, last: last}, err
}

// save replaces the stack file. The first time it keeps the one before as .bak.
func (w *writer) save(ctx context.Context, checkpoint []byte) error {
	s := w.stack
	if !w.begun {
		if err := s.keepPrevious(ctx); err != nil {
			return err
		}
		w.begun = true
	}
	packed, err := s.backend.compression.pack(checkpoint)
	if err != nil {
		return err
	}
	target := s.base() + s.backend.compression.extension()
	condition := store.IfUnchanged(w.last)
	if w.last.Key != "" && w.last.Key != target {
		if condition, err = w.first(ctx, target); err != nil {
			return err
		}
	}
	written, err := s.backend.store.Write(ctx, target, packed, condition)
	if errors.Is(err, store.ErrConflict) {
		return w.refused(ctx, checkpoint, err)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", s.backend.store.Name(target), err)
	}
	w.last = written
	return s.replaced(ctx, target, packed)
}

// first is the condition for a target that is another variant than what was there so far.
func (w *writer) first(ctx context.Context, target string) (store.Condition, error) {
	present, err := w.stack.backend.store.Stat(ctx, target)
	if err != nil || len(present) == 0 {
		return store.IfAbsent(), err
	}
	return store.IfUnchanged(present[0]), nil
}

// refused keeps what could not be written, for it is the only record of what this run has done.
func (w *writer) refused(ctx context.Context, checkpoint []byte, err error) error {
	where, also := w.stack.setAside(ctx, checkpoint)
	if also != nil {
		return errors.Join(err, also)
	}
	return fmt.Errorf("%w during this operation, which has the lock: somebody must have broken that. It is left as it is, and what this "+
		"run knows was set aside in %s; compare the two, and use `sluice stack import` for what is right", err, where)
}

// keepPrevious keeps every variant of the stack file that there is as its .bak.
func (s *fileStack) keepPrevious(ctx context.Context) error {
	present, err := s.backend.store.Stat(ctx, s.variants()...)
	for _, i := range present {
		err = errors.Join(err, store.Keep(ctx, s.backend.store, i.Key, i.Key+".bak"))
	}
	if err != nil {
		return fmt.Errorf("keep the previous state of stack %s: %w", s.ref, err)
	}
	return nil
}

// replaced removes the variants of the stack file with other compressions, and keeps a copy where that is wanted
// (state.md 4.5).
func (s *fileStack) replaced(ctx context.Context, target string, packed []byte) error {
	var others []string
	for _, key := range s.variants() {
		if key != target {
			others = append(others, key)
		}
	}
	present, err := s.backend.store.Stat(ctx, others...)
	if err != nil {
		return err
	}
	for _, i := range present {
		if err := s.backend.store.Remove(ctx, i.Key); err != nil {
			return err
		}
	}
	if !s.backend.flag("RETAIN_CHECKPOINTS") && !s.backend.isTrue("PULUMI_RETAIN_CHECKPOINTS") {
		return nil
	}
	retained := fmt.Sprintf("%s.%d", target, s.backend.options.Now().UnixNano())
	_, err = s.backend.store.Write(ctx, retained, packed, store.Condition{})
	return err
}

// setAside keeps a state that must not become the stack file (state.md 1.9).
func (s *fileStack) setAside(ctx context.Context, checkpoint []byte) (string, error) {
	name := fmt.Sprintf("%s.%d.json", s.ref.Name, s.backend.options.Now().UnixNano())
	key := s.backend.key("sluice", "rejected", s.ref.Project, name)
	_, err := s.backend.store.Write(ctx, key, checkpoint, store.Condition{})
	return s.backend.store.Name(key), err
}
