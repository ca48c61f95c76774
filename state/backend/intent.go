package backend

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/state/backend/internal/layout"
	"github.com/sluice-iac/sluice/state/store"
)

// intent is an operation that changes the files of two stacks, which no store can do at once. Its record with the new
// contents is durable before it writes, so that the next process can complete it after an interrupt (state.md 9.2).
//
// Invariant: as long as one of the files is old and the other is new, the record exists.
type intent struct {
	stacks [2]stackFiles // in the order in which their files are written
	record intentRecord  // empty until it is made or read
}

// The operations that change two stack files.
const (
	renaming = "rename" // the new name first
	moving   = "move"   // the destination first
)

// intentRecord is the record of an operation on two stacks until it has ended. Secrets are sealed in it as they are in the
// files.
type intentRecord struct {
	Format    int       `json:"format"`
	Operation string    `json:"operation"`
	Tool      string    `json:"tool"`
	Start     time.Time `json:"start"`
	Sides     [2]side   `json:"sides"`
}

const intentFormat = 1

// side is the change of one file. Files are named by their [state.Digest]; "" is no file.
type side struct {
	Before string `json:"before"`
	After  string `json:"after"`
	// Content is the file afterwards, before compression.
	Content []byte `json:"content,omitempty"`
}

func sideOf(before, after []byte) side {
	return side{Before: digestOf(before), After: digestOf(after), Content: after}
}

// digestOf is the [state.Digest] of a file, "" for none.
func digestOf(content []byte) string {
	if content == nil {
		return ""
	}
	return state.Digest(content)
}

// storage returns the store with both stacks.
func (p *intent) storage() *storage { return p.stacks[0].storage }

// key returns the key of the record.
func (p *intent) key() string {
	return layout.Intent([2]layout.Stack{p.stacks[0].keys(), p.stacks[1].keys()})
}

// intents lists the intents that have not ended.
func (s *storage) intents(ctx context.Context) ([]*intent, error) {
	infos, err := s.store.List(ctx, layout.Intents())
	if err != nil {
		return nil, fmt.Errorf("look for interrupted operations: %w", err)
	}
	var all []*intent
	for _, i := range infos {
		if keys, is := layout.IntentOf(i.Key); is {
			all = append(all, &intent{stacks: [2]stackFiles{s.files(refOf(keys[0])), s.files(refOf(keys[1]))}})
		}
	}
	return all, nil
}

// other returns the other stack of the intent.
func (p *intent) other(s stackFiles) stackFiles {
	if p.stacks[0].ref == s.ref {
		return p.stacks[1]
	}
	return p.stacks[0]
}

// read reads the intent. An error is a [*IntentError], or wraps [fs.ErrNotExist] if the operation has ended.
func (p *intent) read(ctx context.Context) error {
	b, _, err := p.storage().store.Read(ctx, p.key())
	if err != nil {
		return err
	}
	var in intentRecord
	switch err := json.Unmarshal(b, &in); {
	case err != nil:
		return p.explain(&IntentError{Err: err})
	case in.Format != intentFormat:
		return p.explain(&IntentError{Err: fmt.Errorf("%s wrote it in format %d, and this version of sluice reads format %d; use that version",
			in.Tool, in.Format, intentFormat)})
	}
	for i, s := range in.Sides {
		if digestOf(s.Content) != s.After {
			return p.explain(&IntentError{Err: fmt.Errorf("the state of stack %s in it is not the one that was written", p.name(i))})
		}
	}
	p.record = in
	return nil
}

// explain adds the name of the record and the operation to an error.
func (p *intent) explain(e *IntentError) *IntentError {
	e.Name = p.storage().store.Name(p.key())
	e.Operation, e.Renaming = p.String(), p.record.Operation == renaming
	return e
}

// begin makes the intent of an operation durable.
func (p *intent) begin(ctx context.Context, operation string, sides [2]side) error {
	s := p.storage()
	p.record = intentRecord{
		Format: intentFormat, Operation: operation, Tool: s.options.Version, Start: s.options.Now().UTC(), Sides: sides,
	}
	b, err := json.Marshal(p.record)
	if err != nil {
		return err
	}
	_, err = s.store.Write(ctx, p.key(), b, store.IfAbsent())
	if err == nil || errors.Is(err, store.ErrConflict) {
		return err
	}
	// The record may have been written nevertheless.
	return errors.Join(err, p.end(context.WithoutCancel(ctx)))
}

// end removes the record of the intent.
func (p *intent) end(ctx context.Context) error { return p.storage().store.Remove(ctx, p.key()) }

// name returns the name of a stack for people.
func (p *intent) name(i int) string {
	s := p.stacks[i]
	return s.ref.Display(s.options.Project, Organization)
}

// String describes the operation.
func (p *intent) String() string {
	switch p.record.Operation {
	case renaming:
		return fmt.Sprintf("the rename of stack %s to %s", p.name(1), p.name(0))
	case moving:
		return fmt.Sprintf("the move of resources from stack %s to stack %s", p.name(1), p.name(0))
	}
	return fmt.Sprintf("an operation on the stacks %s and %s", p.name(1), p.name(0))
}
