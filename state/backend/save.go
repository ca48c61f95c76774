package backend

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/state/journal"
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
	if err := s.backend.prepareWrite(); err != nil {
		return nil, err
	}
	if err := state.CheckMutable(base); err != nil {
		return nil, err
	}
	content, err := s.content()
	if err != nil {
		return nil, err
	}
	if read := base.Origin(); read != "" && read != state.Digest(content) {
		return nil, fmt.Errorf("%s has been written by somebody else since it was read; nothing was done, try again", s.current())
	}
	var present *state.SecretsProvider
	if base != nil {
		present = base.SecretsProvider
	}
	o := s.backend.options
	p := s.provider(present)
	ledger := state.NewLedger(base, state.LedgerOptions{Version: o.Version, Now: o.Now, SecretsProvider: p})
	checkpoint := state.CheckpointOptions{
		Stack: s.ref.String(), Encoder: s.encoder(ctx, p), SetAside: s.setAside, SkipIntegrity: o.SkipIntegrity, Save: s.saver(),
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
func (s *fileStack) content() ([]byte, error) {
	b, err := s.read()
	var missing *NotFoundError
	if errors.As(err, &missing) {
		return nil, nil
	}
	return b, err
}

// saver returns what writes the checkpoints of one run. It stops at a file that somebody else has written meanwhile, in spite
// of the lock: what they did must not be lost.
func (s *fileStack) saver() func(context.Context, []byte) error {
	backup := sync.OnceValue(s.keepPrevious)
	seen, _ := os.Stat(s.current())
	return func(_ context.Context, b []byte) error {
		if now, _ := os.Stat(s.current()); !isSameContent(seen, now) {
			return fmt.Errorf("%s has been written by somebody else during this operation, which has the lock; it is left as it is", s.current())
		}
		if err := backup(); err != nil {
			return err
		}
		err := s.replace(b)
		seen, _ = os.Stat(s.current())
		return err
	}
}

// isSameContent tells whether a file that is never written into is the one that it was. nil is no file.
func isSameContent(was, is os.FileInfo) bool {
	if was == nil || is == nil {
		return was == nil && is == nil
	}
	return os.SameFile(was, is) && was.ModTime().Equal(is.ModTime()) && was.Size() == is.Size()
}

// Save implements [Stack].
func (s *fileStack) Save(ctx context.Context, snapshot *state.Snapshot) error {
	if err := state.Verify(snapshot); err != nil && !s.backend.options.SkipIntegrity {
		return fmt.Errorf("the new state of stack %s was not written: %w", s.ref, err)
	}
	return s.save(ctx, snapshot)
}

func (s *fileStack) save(ctx context.Context, snapshot *state.Snapshot) error {
	if err := s.backend.prepareWrite(); err != nil {
		return err
	}
	if snapshot == nil {
		snapshot = &state.Snapshot{}
	}
	out := *snapshot
	out.SecretsProvider = s.provider(snapshot.SecretsProvider)
	b, err := s.encoder(ctx, out.SecretsProvider).Checkpoint(ctx, s.ref.String(), &out)
	if err != nil {
		return err
	}
	if err := s.keepPrevious(); err != nil {
		return err
	}
	return s.replace(b)
}

// keepPrevious keeps every variant of the stack file that there is as its .bak.
func (s *fileStack) keepPrevious() error {
	for _, c := range compressions() {
		path := s.base() + c.extension()
		if _, err := os.Stat(path); err != nil {
			continue
		}
		if err := s.backend.writer.keep(path, path+".bak"); err != nil {
			return fmt.Errorf("keep the previous state of stack %s: %w", s.ref, err)
		}
	}
	return nil
}

// replace writes the stack file and then removes its variants with other compressions (state.md 4.5).
func (s *fileStack) replace(checkpoint []byte) error {
	target := s.base() + s.backend.compression.extension()
	packed, err := s.backend.compression.pack(checkpoint)
	if err != nil {
		return err
	}
	if err := s.backend.writer.replace(target, packed); err != nil {
		return fmt.Errorf("write %s: %w", target, err)
	}
	for _, c := range compressions() {
		if path := s.base() + c.extension(); path != target {
			if err := removeIfExists(path); err != nil {
				return err
			}
			if err := removeIfExists(path + ".attrs"); err != nil {
				return err
			}
		}
	}
	if !s.backend.flag("RETAIN_CHECKPOINTS") && !s.backend.isTrue("PULUMI_RETAIN_CHECKPOINTS") {
		return nil
	}
	return s.backend.writer.replace(fmt.Sprintf("%s.%d", target, s.backend.options.Now().UnixNano()), packed)
}

// setAside keeps a state that must not become the stack file (state.md 1.9).
func (s *fileStack) setAside(_ context.Context, checkpoint []byte) (string, error) {
	name := fmt.Sprintf("%s.%d.json", s.ref.Name, s.backend.options.Now().UnixNano())
	path := filepath.Join(s.backend.path("sluice", "rejected"), s.ref.Project, name)
	return path, s.backend.writer.replace(path, checkpoint)
}
