package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/sourcegraph/conc/panics"

	"github.com/sluice-iac/sluice"
)

// The notes in which the decisions of the last preview and of the last operation that was not one are kept. A note is the
// stamp of the state as the operation left it, a line end, and the log.
const (
	previewNote   = "preview"
	operationNote = "operation"
)

// notes are those about the stack of the session.
func (s *session) notes(ctx context.Context) sluice.Notes {
	return sluice.NewNotes(s.home, s.backendURL, s.ref.String(), filepath.Dir(s.stack.File(ctx)))
}

// keepDecisions writes down what a phase has decided, for `sluice why`. It is one file in the user's own directory, written
// at once; that this cannot be done is no reason to fail.
func (o *operation) keepDecisions(ctx context.Context, r *sluice.Result, preview bool) {
	if r == nil {
		return
	}
	name := operationNote
	if preview {
		name = previewNote
	}
	var b bytes.Buffer
	b.WriteString(o.stamp(ctx) + "\n")
	var err error
	if p := panics.Try(func() { err = r.Decisions().Write(&b) }); p != nil {
		err = p.AsError() // what was done is done
	}
	if err == nil {
		err = o.notes(ctx).Write(name, b.Bytes())
	}
	if err != nil {
		o.cli.Warn("`sluice why` will not know of this: %v", err)
	}
}

// stamp tells one state of a stack from the next; "" is no known one.
func (s *session) stamp(ctx context.Context) string {
	revision, err := s.stack.Revision(ctx)
	if err != nil {
		return ""
	}
	return revision
}

// kept is a log that was written down.
type kept struct {
	*sluice.DecisionLog
	stamp string
}

// readDecisions returns what was written down; nil if nothing was.
func (s *session) readDecisions(ctx context.Context, name string) (*kept, error) {
	notes := s.notes(ctx)
	content, err := notes.Read(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	stamp, rest, _ := bytes.Cut(content, []byte("\n"))
	log, err := sluice.ReadDecisionLog(bytes.NewReader(rest))
	if err != nil {
		return nil, fmt.Errorf("%s, which may be deleted: %w", notes.Path(name), err)
	}
	return &kept{log, string(stamp)}, nil
}

// latestDecisions returns what the last preview or operation decided, nil if nothing was written down.
func (s *session) latestDecisions(ctx context.Context) (*kept, error) {
	preview, err := s.readDecisions(ctx, previewNote)
	if err != nil {
		return nil, err
	}
	operation, err := s.readDecisions(ctx, operationNote)
	if err != nil || preview == nil || operation != nil && operation.Ended.After(preview.Ended) {
		return operation, err
	}
	return preview, nil
}
