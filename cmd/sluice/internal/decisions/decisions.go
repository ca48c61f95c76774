// Package decisions keeps what operations have decided, so that `sluice why` can explain it later.
//
// The decisions of the last preview and of the last operation that was not one are notes in the user's own directory. A note
// is the stamp of the state as the operation left it, a line end, and the log.
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

// Keep writes down what a phase of an operation on a stack has decided. It is one file, written at once; that this cannot be
// done is no reason to fail.
func Keep(ctx context.Context, s *session.Stack, name string, r *sluice.Result) {
	if r == nil {
		return
	}
	var b bytes.Buffer
	b.WriteString(s.Stamp(ctx) + "\n")
	var err error
	if p := panics.Try(func() { err = r.Decisions().Write(&b) }); p != nil {
		err = p.AsError() // what was done is done
	}
	if err == nil {
		err = notes(ctx, s).Write(name, b.Bytes())
	}
	if err != nil {
		s.Terminal.Warn("`sluice why` will not know of this: %v", err)
	}
}

// Kept is a log that was written down.
type Kept struct {
	*why.Log
	Stamp string // of the state that the operation left
}

// Read returns what was written down under a name; nil if nothing was.
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

// Latest returns what the last preview or operation decided, nil if nothing was written down.
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

// Forget removes what was written down about a stack.
func Forget(ctx context.Context, s *session.Stack) {
	if err := notes(ctx, s).Remove(Preview, Operation); err != nil {
		s.Terminal.Warn("what `sluice why` knew of the stack: %v", err)
	}
}
