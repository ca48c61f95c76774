package backend

import (
	"context"
	"errors"
	"fmt"

	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/state/backend/internal/stackfile"
	"github.com/sluice-iac/sluice/state/journal"
	"github.com/sluice-iac/sluice/state/store"
)

// Record implements [Stack].
func (s *fileStack) Record(ctx context.Context, base *state.Snapshot) (state.Recorder, error) {
	l, err := s.claim()
	if err != nil {
		return nil, err
	}
	w, err := s.writer(ctx, l)
	if err != nil {
		s.hold.end()
		return nil, err
	}
	r, err := s.recorder(ctx, w, base)
	if err != nil {
		s.hold.end()
		return nil, err
	}
	return &lockedRecorder{Recorder: r, ref: s.ref, hold: s.hold, lock: l}, nil
}

// claim claims the writing of the state until the end of the hold is called.
func (s *fileStack) claim() (*ownLock, error) {
	return s.hold.claim(s.ref)
}

// recorder begins a recording with a writer that was made under the lock. The .bak file keeps the previous state, one for the whole
// run.
func (s *fileStack) recorder(ctx context.Context, w *stackfile.Writer, base *state.Snapshot) (state.Recorder, error) {
	if err := state.CheckMutable(base); err != nil {
		return nil, err
	}
	content, err := s.unchanged(ctx, base)
	if err != nil {
		return nil, err
	}
	var present *state.SecretsProvider
	if base != nil {
		present = base.SecretsProvider
	}
	o := s.options
	seal := s.seal()
	p := seal.Provider(present)
	ledger := state.NewLedger(base, state.LedgerOptions{Version: o.Version, Now: o.Now, SecretsProvider: p})
	checkpoint := state.CheckpointOptions{
		Stack: s.ref.String(), Encoder: seal.Encoder(ctx, p), SetAside: s.file().SetAside, SkipIntegrity: o.SkipIntegrity, Save: w.Save,
	}
	if o.Checkpoints == CheckpointsEveryStep {
		return state.NewCheckpointRecorder(ledger, checkpoint), nil
	}
	return journal.NewRecorder(journal.Options{
		Ledger: ledger, Base: base, Content: content, Secrets: p, Store: s.journal(), Checkpoint: checkpoint, Tool: o.Version, Now: o.Now,
		OnlyAtEnd: o.Checkpoints == CheckpointsAtEnd || s.options.isTrue("PULUMI_SKIP_CHECKPOINTS"),
	}), nil
}

// writer returns a writer of the stack file under l, which is certainly held now. It is made before the file is read, so that
// it does not overwrite a later write of another process.
func (s *fileStack) writer(ctx context.Context, l *ownLock) (*stackfile.Writer, error) {
	w, err := s.file().Writer(ctx)
	if err != nil {
		return nil, err
	}
	return w, l.Confirm(ctx)
}

// unchanged returns the content of the stack file, nil if there is none. It returns a [*StaleStateError] unless snapshot, or
// the one that it is an edit of, was read from that content. A snapshot that was not loaded is the first state of a stack.
func (s *fileStack) unchanged(ctx context.Context, snapshot *state.Snapshot) ([]byte, error) {
	content, err := s.content(ctx)
	if err != nil {
		return nil, err
	}
	from := snapshot.ReadFrom()
	if from == digestOf(content) {
		return content, nil
	}
	if from == "" {
		summary, err := s.summarise(ctx, content, s.File(ctx))
		if err != nil || !summary.Deployed {
			return content, err
		}
	}
	return nil, &StaleStateError{Ref: s.ref, File: s.File(ctx), Made: from == ""}
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
	if err := state.Verify(snapshot); err != nil && !s.options.SkipIntegrity {
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
	seal := s.seal()
	out.SecretsProvider = seal.Provider(snapshot.SecretsProvider)
	if err := seal.Ahead(ctx, out.SecretsProvider, out.Resources...); err != nil {
		return nil, err
	}
	return seal.Encoder(ctx, out.SecretsProvider).Checkpoint(ctx, s.ref.String(), &out)
}

// save writes a state under the lock unless check returns an error. check runs when the stack is locked.
func (s *fileStack) save(ctx context.Context, snapshot *state.Snapshot, check func() error) error {
	l, err := s.claim()
	if err != nil {
		return err
	}
	defer s.hold.end()
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
		return &StaleStateError{Ref: s.ref, File: s.File(ctx), Err: err}
	}
	return err
}
