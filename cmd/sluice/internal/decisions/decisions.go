// Package decisions keeps the decisions of operations, so that `sluice why` can explain them later.
//
// It keeps the decisions of the last preview and those of the last other operation as notes in the user's own
// directory. A note consists of the stamp of the state that the operation left, a line end, and the log.
package decisions

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/sourcegraph/conc/panics"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/session"
	"github.com/sluice-iac/sluice/stages/why"
	"github.com/sluice-iac/sluice/state/backend/workspace"
)

// The names of the notes.
const (
	Preview   = "preview"
	Operation = "operation"
)

func notes(ctx context.Context, s *session.Stack) workspace.Notes {
	return workspace.NewNotes(s.Home, s.BackendURL, s.Ref.String(), filepath.Dir(s.State.File(ctx)))
}

// Keep writes the decisions of one phase of an operation on a stack. It writes one file in one call. If that fails, the
// operation does not.
func Keep(ctx context.Context, s *session.Stack, name string, r *sluice.Result) {
	if r == nil {
		return
	}
	var b bytes.Buffer
	b.WriteString(s.Stamp(ctx) + "\n")
	var err error
	if p := panics.Try(func() { err = r.Decisions().Write(&b) }); p != nil {
		err = p.AsError() // what has been done stays done
	}
	if err == nil {
		err = notes(ctx, s).Write(name, b.Bytes())
	}
	if err != nil {
		s.Terminal.Warn("`sluice why` will not know of this: %v", err)
	}
}

// Kept is a log that [Keep] has written.
type Kept struct {
	*why.Log
	Stamp string // of the state after the operation
}

// Read returns the log with the given name, nil if there is none.
func Read(ctx context.Context, s *session.Stack, name string) (*Kept, error) {
	notes := notes(ctx, s)
	content, err := notes.Read(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	stamp, rest, _ := bytes.Cut(content, []byte("\n"))
	log, err := why.Read(bytes.NewReader(rest))
	if err != nil {
		return nil, fmt.Errorf("%s, which may be deleted: %w", notes.Path(name), err)
	}
	return &Kept{log, string(stamp)}, nil
}

// Latest returns the log of the last preview or operation, nil if there is none.
func Latest(ctx context.Context, s *session.Stack) (*Kept, error) {
	preview, err := Read(ctx, s, Preview)
	if err != nil {
		return nil, err
	}
	operation, err := Read(ctx, s, Operation)
	if err != nil || preview == nil || operation != nil && operation.Ended.After(preview.Ended) {
		return operation, err
	}
	return preview, nil
}

// Forget removes the logs of a stack.
func Forget(ctx context.Context, s *session.Stack) {
	if err := notes(ctx, s).Remove(Preview, Operation); err != nil {
		s.Terminal.Warn("what `sluice why` knew of the stack: %v", err)
	}
}
