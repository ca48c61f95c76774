package backend

import (
	"context"
	"errors"
	"io/fs"

	"github.com/sluice-iac/sluice/state/store"
)

// AnswersKeeper is a stack with a place beside its state for the answers that providers gave in earlier operations. They are no part of the state,
// and may be lost at any time.
type AnswersKeeper interface {
	// ReadAnswers returns what is kept, nil if there is nothing, and a revision that identifies it.
	ReadAnswers(ctx context.Context) (content []byte, revision string, err error)
	// WriteAnswers replaces what is kept if it still has the revision, "" if nothing is kept. The error wraps [store.ErrConflict] if it has not.
	WriteAnswers(ctx context.Context, content []byte, revision string) error
	// RemoveAnswers removes what is kept.
	RemoveAnswers(ctx context.Context) error
}

var _ AnswersKeeper = (*fileStack)(nil)

// ReadAnswers implements [AnswersKeeper].
func (s *fileStack) ReadAnswers(ctx context.Context) (content []byte, revision string, err error) {
	content, info, err := s.files.storage.store.Read(ctx, s.files.keys().Answers())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, "", nil
	}
	return content, info.Revision, err
}

// WriteAnswers implements [AnswersKeeper].
func (s *fileStack) WriteAnswers(ctx context.Context, content []byte, revision string) error {
	if err := s.files.storage.prepareWrite(ctx); err != nil {
		return err
	}
	_, err := s.files.storage.store.Write(ctx, s.files.keys().Answers(), content, store.IfUnchanged(store.Info{Revision: revision}))
	return err
}

// RemoveAnswers implements [AnswersKeeper].
func (s *fileStack) RemoveAnswers(ctx context.Context) error {
	return s.files.storage.store.Remove(ctx, s.files.keys().Answers())
}
