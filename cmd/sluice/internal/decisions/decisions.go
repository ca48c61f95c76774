// Package decisions stores the decisions of operations. `sluice why` explains them later, and the next preview reads from them which possible
// changes did not happen.
//
// It keeps the decisions of the last preview and of the last other operation as notes in the user's own directory. A note consists of the stamp
// of the state after the operation, a line end, and the log. A third note lists the unrealized changes, and a fourth one the resources
// that left the state otherwise than by an edit of the program.
package decisions

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/sourcegraph/conc/panics"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/session"
	"github.com/sluice-iac/sluice/stages/why"
	"github.com/sluice-iac/sluice/state/backend"
)

// The names of the notes.
const (
	Preview   = "preview"
	Operation = "operation"
)

// Of returns the decisions of one phase of an operation on a stack, nil if they are unknown. An error here does not make the operation fail,
// because its steps have been done. settings returns the settings that have changed since the last operation.
func Of(s *session.Stack, r *sluice.Result, settings func() []why.ChangedSetting) (log *why.Log) {
	if r == nil {
		return nil
	}
	if p := panics.Try(func() { log = r.DecisionsSince(settings) }); p != nil {
		s.Session.Terminal.Warn("`sluice why` will not explain this operation: %v", p.AsError())
		return nil
	}
	return log
}

// Keep writes the decisions of one phase of an operation on a stack, unless they are nil. It writes one file in one call. An error of it does
// not make the operation fail.
func Keep(ctx context.Context, s *session.Stack, name string, log *why.Log) {
	if log == nil {
		return
	}
	var b bytes.Buffer
	b.WriteString(s.Stamp(ctx) + "\n")
	err := log.Write(&b)
	if err == nil {
		err = s.Notes(ctx).Write(name, b.Bytes())
	}
	if err != nil {
		s.Session.Terminal.Warn("the decisions were not recorded for `sluice why`: %v", err)
	}
}

// Kept is a log that [Keep] has written.
type Kept struct {
	*why.Log
	Stamp string // of the state after the operation
}

// Read returns the log with the given name, nil if there is none.
func Read(ctx context.Context, s *session.Stack, name string) (*Kept, error) {
	notes := s.Notes(ctx)
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

// Forget removes the logs of a stack, and what else is kept of it in the user's own directory.
func Forget(ctx context.Context, s *session.Stack) {
	names := []string{Preview, Operation, unrealizedNote, departuresNote}
	for _, kind := range backend.Sides() {
		names = append(names, string(kind))
	}
	if err := s.Notes(ctx).Remove(names...); err != nil {
		s.Session.Terminal.Warn("the decisions that were recorded for `sluice why` were not removed: %v", err)
	}
}
