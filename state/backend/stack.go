package backend

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/sluice-iac/sluice/advice"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/state/backend/internal/compression"
	"github.com/sluice-iac/sluice/state/backend/internal/sealing"
	"github.com/sluice-iac/sluice/state/backend/internal/stackfile"
	"github.com/sluice-iac/sluice/state/journal"
	"github.com/sluice-iac/sluice/state/lock"
	"github.com/sluice-iac/sluice/state/secrets"
	"github.com/sluice-iac/sluice/state/store"
)

// fileStack is a stack of a [File] backend: its files, and the manager of its secrets. Only its hold changes.
//
// Invariant: when it returns a lock, nothing is left to recover on the stack. Reads include the part that is not recovered.
type fileStack struct {
	files   stackFiles
	reader  *reader
	secrets secrets.Manager // nil: the one that the state names
	lenient bool            // a secret that cannot be opened is unavailable instead of an error
	hold    *hold
}

var (
	_ Stack      = (*fileStack)(nil)
	_ SideKeeper = (*fileStack)(nil)
)

// seal opens and encrypts the secrets of the stack.
func (s *fileStack) seal() sealing.Seal {
	return sealing.Seal{Manager: s.secrets, Passphrases: s.files.storage.options.Passphrases.For(s.files.ref.Project, s.files.ref.Name), Lenient: s.lenient}
}

// Ref implements [Stack].
func (s *fileStack) Ref() Ref { return s.files.ref }

// Named implements [Stack].
func (s *fileStack) Named() (project, name string) {
	return s.files.ref.Project, s.files.ref.Name
}

// WithSecrets implements [Stack].
func (s *fileStack) WithSecrets(m secrets.Manager) Stack {
	c := *s
	c.secrets = m
	return &c
}

// Readable implements [Stack].
func (s *fileStack) Readable() Stack {
	c := *s
	c.lenient = true
	return &c
}

// File implements [Stack].
func (s *fileStack) File(ctx context.Context) string { return s.files.file().Name(ctx) }

// Revision implements [Stack].
func (s *fileStack) Revision(ctx context.Context) (string, error) {
	_, info, err := s.files.file().Current(ctx)
	return info.Revision, err
}

// SecretsProvider implements [Stack].
func (s *fileStack) SecretsProvider(ctx context.Context) (*state.SecretsProvider, error) {
	summary, err := s.files.summary(ctx)
	return summary.SecretsProvider, err
}

// Load implements [Stack]. While the handle has the lock, it loads an unchanged file once, for the preview and the update that follows. Nobody changes
// a snapshot that was loaded.
func (s *fileStack) Load(ctx context.Context) (*state.Snapshot, error) {
	if !s.hold.isHeld() {
		return s.load(ctx)
	}
	revision, err := s.Revision(ctx)
	if err != nil {
		return nil, err
	}
	if found := s.hold.find(s, revision); found != nil {
		return found, nil
	}
	snapshot, err := s.load(ctx)
	if err == nil {
		s.hold.keep(loaded{s, revision, snapshot})
	}
	return snapshot, err
}

func (s *fileStack) load(ctx context.Context) (*state.Snapshot, error) {
	snapshot, err := s.present(ctx, s.seal().Decrypter)
	if err == nil {
		err = s.Check(ctx, snapshot)
	}
	if err != nil {
		return nil, err
	}
	return snapshot, nil
}

// Check implements [Stack].
func (s *fileStack) Check(ctx context.Context, snapshot *state.Snapshot) error {
	if s.files.storage.options.SkipIntegrity {
		return nil
	}
	err := state.Verify(snapshot)
	if err == nil {
		err = state.VerifyNames(snapshot)
	}
	if err != nil {
		return &InvalidStateError{s.File(ctx), err}
	}
	return nil
}

// LoadSealed implements [Stack].
func (s *fileStack) LoadSealed(ctx context.Context) (*state.Snapshot, error) {
	return s.present(ctx, nil)
}

// present returns the state, unchecked, including the journal. Without a decrypter its secrets are left sealed. While this handle
// has the lock, no process works on the stack, so pending operations were interrupted.
func (s *fileStack) present(ctx context.Context, decrypter decrypters) (*state.Snapshot, error) {
	if !s.hold.isHeld() {
		return s.reader.snapshot(ctx, s.files, decrypter)
	}
	in, err := s.reader.glance(ctx, s.files)
	if err != nil {
		return nil, err
	}
	return s.files.decode(ctx, in.content, in.name, decrypter)
}

// Outputs implements [Stack].
func (s *fileStack) Outputs(ctx context.Context, sealed bool) (property.Map, error) {
	in, err := s.reader.read(ctx, s.files)
	if err != nil {
		return property.Map{}, err
	}
	o := state.DecodeOptions{Name: in.name, Decrypter: s.seal().Decrypter}
	if sealed {
		o.Decrypter = nil
	}
	outputs, err := state.DecodeOutputs(ctx, in.content, o)
	if err != nil {
		return property.Map{}, s.files.explain(ctx, in.name, err)
	}
	return outputs, nil
}

// Lock implements [Stack].
func (s *fileStack) Lock(ctx context.Context, o LockOptions) (Lock, error) {
	l, err := remains{s.files}.acquire(ctx, o)
	if err != nil {
		return nil, err
	}
	return s.hold.own(l, o.Operation), nil
}

// Locks implements [Stack].
func (s *fileStack) Locks(ctx context.Context) ([]lock.Held, error) {
	held, err := lock.List(ctx, s.files.lockOptions())
	if err != nil {
		return nil, err
	}
	others, err := stackIntents{s.files}.locks(ctx)
	return append(held, others...), err
}

// BreakLocks implements [Stack].
func (s *fileStack) BreakLocks(ctx context.Context, held []lock.Held) (int, error) {
	return lock.Remove(ctx, s.files.lockOptions(), held)
}

// DiscardJournal implements [Stack].
func (s *fileStack) DiscardJournal(ctx context.Context) (where string, err error) {
	l, err := s.files.lock(ctx, LockOptions{Operation: "recovery"})
	if err != nil {
		return "", err
	}
	where, err = remains{s.files}.setAside(ctx)
	return where, errors.Join(err, l.Release())
}

// Tags implements [Stack].
func (s *fileStack) Tags(ctx context.Context) (map[string]string, error) {
	return tags{s.files}.all(ctx)
}

// EditTags implements [Stack].
func (s *fileStack) EditTags(ctx context.Context, edit func(tags map[string]string)) error {
	return tags{s.files}.edit(ctx, edit)
}

// Begin implements [Stack].
func (s *fileStack) Begin(_ context.Context, o Operation) (Run, error) {
	return fileRun{history{s.files}, o.Preview}, nil
}

// WriteHistory implements [Stack].
func (s *fileStack) WriteHistory(ctx context.Context, u Update) error {
	return history{s.files}.write(ctx, u)
}

// LastUpdate implements [Stack].
func (s *fileStack) LastUpdate(ctx context.Context, accept func(Update) bool) (*Update, error) {
	return history{s.files}.last(ctx, accept)
}

// History implements [Stack].
func (s *fileStack) History(ctx context.Context) (updates []Update, warnings []string, err error) {
	return history{s.files}.list(ctx)
}

// Export implements [Stack].
func (s *fileStack) Export(ctx context.Context, showSecrets bool) ([]byte, error) {
	in, err := s.reader.read(ctx, s.files)
	if err != nil {
		return nil, err
	}
	return s.export(ctx, in.content, in.name, showSecrets)
}

// ExportVersion implements [Stack].
func (s *fileStack) ExportVersion(ctx context.Context, version int, showSecrets bool) ([]byte, error) {
	content, name, err := history{s.files}.version(ctx, version)
	if err != nil {
		return nil, err
	}
	return s.export(ctx, content, name, showSecrets)
}

// export converts the content of a stack file.
func (s *fileStack) export(ctx context.Context, content []byte, name string, showSecrets bool) ([]byte, error) {
	if !showSecrets {
		out, err := state.ReexportCheckpoint(content, name)
		if err != nil {
			return nil, s.files.explain(ctx, name, err)
		}
		return out, nil
	}
	snapshot, err := s.files.decode(ctx, content, name, s.seal().Decrypter)
	if err != nil {
		return nil, err
	}
	if snapshot == nil {
		snapshot = &state.Snapshot{}
	}
	return state.NewEncoder(state.EncoderOptions{Plaintext: true}).Deployment(ctx, snapshot)
}

// errDangerous ends the list of problems of an import.
var errDangerous = advice.With(errors.New("importing this file could be dangerous"), advice.On(advice.ImportAnyway))

// Import implements [Stack] (state.md 7.6). An export with ciphertexts keeps them, and the provider that it names encrypts the
// plain secrets beside them. An export without ciphertexts needs no provider of its own: this stack's provider encrypts its
// secrets.
func (s *fileStack) Import(ctx context.Context, export []byte, force bool) (warnings []string, err error) {
	export, err = compression.Unpack(export) // a copy of a stack file may be compressed
	if err != nil {
		return nil, err
	}
	snapshot, err := state.DecodeExport(ctx, export, state.DecodeOptions{Name: "the deployment"})
	switch { // scripts look for the words of the first two
	case errors.Is(err, state.ErrTooOld):
		return nil, fmt.Errorf("the stack '%s' is too old: %w", s.files.ref.Name, err)
	case errors.Is(err, state.ErrVersion):
		return nil, fmt.Errorf("the stack '%s' is newer than what this version of the Pulumi CLI understands: %w", s.files.ref.Name, err)
	case err != nil:
		return nil, err
	}
	var problems []error
	for _, r := range snapshot.Resources {
		if r.URN.Stack() != s.files.ref.Name {
			problems = append(problems, fmt.Errorf("resource '%s' refers to a different stack name (%s)", r.URN, r.URN.Stack()))
		}
	}
	if err := state.Verify(snapshot); err != nil {
		problems = append(problems, err)
	} else if err := state.VerifyNames(snapshot); err != nil {
		problems = append(problems, err)
	}
	if len(problems) > 0 && !force {
		return nil, errors.Join(append(problems, errDangerous)...)
	}
	for _, p := range problems {
		warnings = append(warnings, p.Error())
	}
	for _, op := range snapshot.Pending {
		warnings = append(warnings, fmt.Sprintf("removing pending operation '%s' on '%s'", op.Type, op.Resource.URN))
	}
	snapshot.Pending = nil

	// The present state of the stack is replaced, whatever it is.
	unlock, err := s.Lock(ctx, LockOptions{Operation: "stack import"})
	if err != nil {
		return nil, err
	}
	into := *s
	if snapshot.HasSealed() {
		into.secrets = nil // the ciphertexts belong to the provider that came with them
	} else if s.secrets != nil {
		snapshot.SecretsProvider = nil // nothing in the export is encrypted
	} else if present, err := s.SecretsProvider(ctx); err == nil && present != nil {
		snapshot.SecretsProvider = present
	}
	return warnings, errors.Join(into.save(ctx, snapshot, func() error { return nil }), unlock.Close())
}

func (s *fileStack) create(ctx context.Context) error {
	if s.files.exists(ctx) == nil {
		return &ExistsError{s.files.ref.Name}
	}
	v := s.files.storage.options.Version
	snapshot := &state.Snapshot{Manifest: state.Manifest{Time: s.files.storage.options.Now(), Version: v, Magic: state.Magic(v)}}
	if s.secrets != nil {
		snapshot.SecretsProvider = s.secrets.Provider()
	}
	return s.Save(ctx, snapshot)
}

// SaveMove implements [Stack]. Both contents are computed before either file is written.
func (s *fileStack) SaveMove(ctx context.Context, snapshot *state.Snapshot, dest Stack, destState *state.Snapshot) error {
	to, ok := dest.(*fileStack)
	if !ok || to.files.storage != s.files.storage {
		return fmt.Errorf("nothing was moved: the stacks %s and %s are not of the same backend", s.files.ref, dest.Ref())
	}
	if to.files.ref == s.files.ref {
		return fmt.Errorf("nothing was moved: source and destination are the same stack, %s", s.files.ref)
	}
	changes := [2]change{{stack: to, state: destState}, {stack: s, state: snapshot}}
	for i, c := range changes {
		err := c.stack.verify(c.state)
		if err == nil {
			changes[i].after, err = c.stack.encode(ctx, c.state)
		}
		if err != nil {
			return nothingDone(moving, err)
		}
	}
	return changeBoth(ctx, moving, changes)
}

// Record implements [Stack].
func (s *fileStack) Record(ctx context.Context, base *state.Snapshot) (state.Recorder, error) {
	l, err := s.claim()
	if err != nil {
		return nil, err
	}
	w, err := s.writer(ctx, l)
	if err != nil {
		s.hold.end(&err)
		return nil, err
	}
	r, err := s.recorder(ctx, w, base, l.operation)
	if err != nil {
		s.hold.end(&err)
		return nil, err
	}
	return &lockedRecorder{Recorder: r, ref: s.files.ref, hold: s.hold, lock: l}, nil
}

// claim claims the writing of the state until the end of the hold is called.
func (s *fileStack) claim() (*ownLock, error) {
	return s.hold.claim(s.files.ref)
}

// recorder begins a recording with a writer that was made under the lock. The .bak file keeps the previous state, one for the whole
// run.
func (s *fileStack) recorder(ctx context.Context, w *stackfile.Writer, base *state.Snapshot, operation string) (state.Recorder, error) {
	content, err := s.unchanged(ctx, base)
	if err != nil {
		return nil, err
	}
	var present *state.SecretsProvider
	if base != nil {
		present = base.SecretsProvider
	}
	o := s.files.storage.options
	seal := s.seal()
	p := seal.Provider(present)
	ledger := state.NewLedger(base, state.LedgerOptions{Version: o.Version, Now: o.Now, SecretsProvider: p})
	checkpoint := state.CheckpointOptions{
		Stack: s.files.ref.String(), Encoder: seal.Encoder(ctx, p), SetAside: s.files.file().SetAside, SkipIntegrity: o.SkipIntegrity, Save: w.Save,
	}
	if o.Checkpoints == CheckpointsEveryStep {
		return state.NewCheckpointRecorder(ledger, checkpoint), nil
	}
	return journal.NewRecorder(journal.Options{
		Ledger: ledger, Base: base, Content: content, Secrets: p, Store: s.files.journal(), Checkpoint: checkpoint, Tool: o.Version, Operation: operation, Now: o.Now,
		OnlyAtEnd: o.Checkpoints == CheckpointsAtEnd || s.files.storage.options.isTrue("PULUMI_SKIP_CHECKPOINTS"),
	}), nil
}

// writer returns a writer of the stack file under l, which is certainly held now. It is made before the file is read, so that
// it does not overwrite a later write of another process.
func (s *fileStack) writer(ctx context.Context, l *ownLock) (*stackfile.Writer, error) {
	w, err := s.files.file().Writer(ctx)
	if err != nil {
		return nil, err
	}
	return w, l.Confirm(ctx)
}

// unchanged returns the content of the stack file, nil if there is none. It returns a [*StaleStateError] unless snapshot, or
// the one that it is an edit of, was read from that content. A snapshot that was not loaded is the first state of a stack.
func (s *fileStack) unchanged(ctx context.Context, snapshot *state.Snapshot) ([]byte, error) {
	content, err := s.files.content(ctx)
	if err != nil {
		return nil, err
	}
	from := snapshot.ReadFrom()
	if from == digestOf(content) {
		return content, nil
	}
	if from == "" {
		summary, err := s.files.summarise(ctx, content, s.File(ctx))
		if err != nil || !summary.Deployed {
			return content, err
		}
	}
	return nil, &StaleStateError{Ref: s.files.ref, File: s.File(ctx), Made: from == ""}
}

// Save implements [Stack].
func (s *fileStack) Save(ctx context.Context, snapshot *state.Snapshot) error {
	if err := s.verify(snapshot); err != nil {
		return err
	}
	return s.save(ctx, snapshot, func() error {
		_, err := s.unchanged(ctx, snapshot)
		return err
	})
}

// verify refuses to write a state that could not be read.
func (s *fileStack) verify(snapshot *state.Snapshot) error {
	if err := state.Verify(snapshot); err != nil && !s.files.storage.options.SkipIntegrity {
		return fmt.Errorf("the new state of stack %s was not written: %w", s.files.ref, err)
	}
	return nil
}

// encode makes the stack file of a state that keeps its manifest, its metadata and its pending operations.
func (s *fileStack) encode(ctx context.Context, snapshot *state.Snapshot) ([]byte, error) {
	if snapshot == nil {
		snapshot = &state.Snapshot{}
	}
	out := *snapshot
	seal := s.seal()
	out.SecretsProvider = seal.Provider(snapshot.SecretsProvider)
	if err := seal.Ahead(ctx, out.SecretsProvider, out.Resources...); err != nil {
		return nil, err
	}
	return seal.Encoder(ctx, out.SecretsProvider).Checkpoint(ctx, s.files.ref.String(), &out)
}

// save writes a state under the lock unless check returns an error. check runs when the stack is locked.
func (s *fileStack) save(ctx context.Context, snapshot *state.Snapshot, check func() error) (err error) {
	l, err := s.claim()
	if err != nil {
		return err
	}
	defer s.hold.end(&err)
	b, err := s.encode(ctx, snapshot)
	if err != nil {
		return err
	}
	w, err := s.writer(ctx, l)
	if err != nil {
		return err
	}
	if err := check(); err != nil {
		return err
	}
	err = w.Replace(ctx, b)
	if errors.Is(err, store.ErrConflict) {
		return &StaleStateError{Ref: s.files.ref, File: s.File(ctx), Err: err}
	}
	return err
}

// ReadSide implements [SideKeeper].
func (s *fileStack) ReadSide(ctx context.Context, kind Side) (content []byte, revision string, err error) {
	content, info, err := s.files.storage.store.Read(ctx, s.files.keys().Beside(string(kind)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, "", nil
	}
	return content, info.Revision, err
}

// WriteSide implements [SideKeeper].
func (s *fileStack) WriteSide(ctx context.Context, kind Side, content []byte, revision string) (replaced bool, err error) {
	if err := s.files.storage.prepareWrite(ctx); err != nil {
		return false, err
	}
	_, err = s.files.storage.store.Write(ctx, s.files.keys().Beside(string(kind)), content, store.IfUnchanged(store.Info{Revision: revision}))
	if errors.Is(err, store.ErrConflict) {
		return false, nil
	}
	return err == nil, err
}

// RemoveSide implements [SideKeeper].
func (s *fileStack) RemoveSide(ctx context.Context, kind Side) error {
	return s.files.storage.store.Remove(ctx, s.files.keys().Beside(string(kind)))
}
