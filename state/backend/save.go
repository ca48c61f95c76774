package backend

import (
	"context"
	"fmt"

	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/state/journal"
)

// Record implements [Stack].
func (s *fileStack) Record(ctx context.Context, base *state.Snapshot) (state.Recorder, error) {
	l, err := s.hold.begin(ctx, s.ref)
	if err != nil {
		return nil, err
	}
	r, err := s.recorder(ctx, base)
	if err != nil {
		s.hold.end()
		return nil, err
	}
	return &lockedRecorder{Recorder: r, ref: s.ref, hold: s.hold, lock: l}, nil
}

// recorder begins a recording. The lock is held. The previous state stays in the .bak file: one file for the whole run.
func (s *fileStack) recorder(ctx context.Context, base *state.Snapshot) (state.Recorder, error) {
	if err := s.prepareWrite(ctx); err != nil {
		return nil, err
	}
	if err := state.CheckMutable(base); err != nil {
		return nil, err
	}
	// The writer is made before the content is read: what somebody writes in between is not written over.
	w, err := s.file().Writer(ctx)
	if err != nil {
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

// Save implements [Stack].
func (s *fileStack) Save(ctx context.Context, snapshot *state.Snapshot) error {
	if err := s.verify(snapshot); err != nil {
		return err
	}
	return s.save(ctx, snapshot)
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
	return seal.Encoder(ctx, out.SecretsProvider).Checkpoint(ctx, s.ref.String(), &out)
}

func (s *fileStack) save(ctx context.Context, snapshot *state.Snapshot) error {
	if err := s.prepareWrite(ctx); err != nil {
		return err
	}
	b, err := s.encode(ctx, snapshot)
	if err != nil {
		return err
	}
	w, err := s.file().Writer(ctx)
	if err != nil {
		return err
	}
	return w.Save(ctx, b)
}
