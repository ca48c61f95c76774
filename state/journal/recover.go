package journal

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// Recovery defines how what a run has left behind is recovered.
type Recovery struct {
	Stack string // its fully qualified name
	Store Store
	// Content is what the stack file holds now.
	Content []byte
	// Decode reads the base and the records. Secrets may stay sealed.
	Decode state.DecodeOptions
	// Checkpoint says how the result is written, but for its encoder, which Encoder returns for a provider of secrets.
	Checkpoint state.CheckpointOptions
	Encoder    func(ctx context.Context, p *state.SecretsProvider) *state.Encoder
	// Ledger is how the result is signed. Its provider of secrets is that of the journal.
	Ledger state.LedgerOptions
	// Aside keeps what is about to be cut off the end of the journal, and tells the user: the bytes of a write that never
	// finished. After a recovery that was interrupted it may be called again with the same ones. nil keeps nothing.
	Aside func(ctx context.Context, torn []byte) error
	// History records that the run has ended, before its journal is removed; nil records nothing.
	History func(*Report) error

	peeking bool // see [Peek]
}

// Report describes what was found in a journal.
type Report struct {
	Tool  string    // that wrote it
	Start time.Time // of the run
	Done  []Completed
	Open  []state.Pending // operations that had begun and not ended, in the order of their URNs
	// Earlier are those of Open that earlier runs had begun.
	Earlier []state.Pending
	Torn    int // bytes of a write that never finished
	// Written is true if the checkpoint was not up to date, so that it was written, or would be.
	Written bool
}

// Listed is one line of what a journal contains, for a file.
type Listed struct {
	What string  `json:"what"` // "created", "updated", "deleted", or the type of an operation that has not ended
	Open bool    `json:"open,omitempty"`
	URN  urn.URN `json:"urn"`
	ID   string  `json:"id,omitempty"`
}

// List returns everything that was found: what was completed, then what was not.
func (r *Report) List() []Listed {
	list := []Listed{}
	for _, c := range r.Done {
		list = append(list, Listed{What: c.What, URN: c.Resource.URN, ID: c.Resource.ID})
	}
	for _, op := range r.Open {
		list = append(list, Listed{What: string(op.Type), Open: true, URN: op.Resource.URN, ID: op.Resource.ID})
	}
	return list
}

// StaleError says that a journal does not belong to the content of the stack file: another process has written that since, or
// the journal is that of another stack. It has not been applied.
type StaleError struct {
	Name   string // where the journal is
	Stack  string // that the journal names
	Other  bool   // that is another stack
	Report *Report
	// Err is why the report is not complete: the base of the journal is lost.
	Err error
}

func (e *StaleError) Error() string {
	if e.Other {
		return fmt.Sprintf("%s is the journal of another stack, %s; it was not applied", e.Name, e.Stack)
	}
	if e.Err != nil {
		return fmt.Sprintf("%s cannot be applied: %v", e.Name, e.Err)
	}
	return fmt.Sprintf("%s was left by an interrupted operation, and the state has been written by somebody else since; "+
		"it was not applied", e.Name)
}

func (e *StaleError) Unwrap() error { return e.Err }

// Recover brings the checkpoint up to date with the journal of a run that was interrupted and removes the journal. It
// returns nil if there is none. Being killed in the middle does no harm: the next Recover does it again. A journal that may
// not be applied is left as it is, and the error is a [*StaleError], a [*FormatError] or a [*DamagedError].
func Recover(ctx context.Context, o Recovery) (*Report, error) {
	f, err := o.find(ctx)
	if err != nil || f == nil {
		return nil, err
	}
	if err := o.setAside(ctx, f.torn); err != nil {
		return nil, err
	}
	if f.report == nil {
		return nil, o.Store.Remove(ctx)
	}
	if f.report.Written {
		if err := o.compact(ctx, f); err != nil {
			return nil, err
		}
	}
	if o.History != nil {
		if err := o.History(f.report); err != nil {
			return nil, err
		}
	}
	return f.report, o.Store.Remove(ctx)
}

// Peek returns the checkpoint that [Recover] would write, and what it would report. The checkpoint bears the time at which the run
// began, so that the same journal gives the same bytes. Peek changes nothing, and may be called while a run appends to the
// journal, if Content was read before. It returns no report if nothing has been done under the journal, or there is none any
// more. Errors are those of Recover, or say that the run has ended meanwhile.
func Peek(ctx context.Context, o Recovery) (content []byte, r *Report, err error) {
	o.peeking = true
	f, err := o.find(ctx)
	if err != nil || f == nil || f.report == nil {
		return o.Content, nil, err
	}
	if !f.report.Written {
		return o.Content, f.report, nil
	}
	c := o.Checkpoint
	c.Stack, c.Encoder, c.SetAside = o.Stack, f.encoder, nil
	c.Save = func(_ context.Context, b []byte) error { content = b; return nil }
	_, err = c.Write(ctx, f.snapshot)
	return content, f.report, err
}

// found is a journal and what it leads to.
type found struct {
	journal *Journal
	torn    []byte  // at its end
	report  *Report // nil if nothing has been done under it
	// snapshot is the state, and encoder encodes it.
	snapshot *state.Snapshot
	encoder  *state.Encoder
}

// find reads the journal and applies it in memory. It returns nil if there is none.
func (o Recovery) find(ctx context.Context) (*found, error) {
	data, err := o.Store.Read(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the journal of stack %s: %w", o.Stack, err)
	}
	if data == nil {
		return nil, nil
	}
	j, err := Read(data, o.Store.Name())
	if err != nil {
		return nil, err
	}
	f := &found{journal: j, torn: data[len(data)-j.Torn:]}
	if !j.isBegun() {
		return f, nil
	}
	f.report = &Report{Tool: j.Header.Tool, Start: j.Header.Start, Torn: j.Torn}
	stale := &StaleError{Name: o.Store.Name(), Stack: j.Header.Stack, Report: f.report}
	if j.Header.Stack != o.Stack {
		stale.Other = true
		return nil, stale
	}
	base, err := o.base(ctx, j)
	if err != nil {
		stale.Err = err
		return nil, stale
	}
	if err := o.replay(ctx, f, base); err != nil {
		stale.Err = fmt.Errorf("its records do not fit its base: %w", err)
		return nil, stale
	}
	present := state.Digest(o.Content)
	if !j.wrote(present) {
		return nil, stale
	}
	f.report.Written = !j.isCompacted(present)
	return f, nil
}

func (o Recovery) setAside(ctx context.Context, torn []byte) error {
	if len(torn) == 0 || o.Aside == nil {
		return nil
	}
	return o.Aside(ctx, torn)
}

// wrote reports whether a checkpoint is the base of the journal or was written under it.
func (j *Journal) wrote(digest string) bool {
	if digest == j.Header.Base.Digest {
		return true
	}
	for _, e := range j.entries {
		if e.Kind == kindCheckpoint && e.Digest == digest {
			return true
		}
	}
	return false
}

// isCompacted reports whether a checkpoint holds everything that the journal does.
func (j *Journal) isCompacted(digest string) bool {
	for i := len(j.entries) - 1; i >= 0; i-- {
		e := j.entries[i]
		if e.Kind != kindCheckpoint {
			return false
		}
		if e.Digest == digest {
			return true
		}
	}
	return false
}

// base is the checkpoint that the journal begins with: the present one, or the one that was kept.
func (o Recovery) base(ctx context.Context, j *Journal) (*state.Snapshot, error) {
	content := o.Content
	if state.Digest(content) != j.Header.Base.Digest {
		kept, err := o.Store.Base(ctx)
		switch {
		case err != nil:
			return nil, fmt.Errorf("read the state that it begins with: %w", err)
		case kept == nil:
			return nil, errors.New("the state that it begins with is gone")
		case state.Digest(kept) != j.Header.Base.Digest:
			return nil, errors.New("the state that it begins with has been changed")
		}
		content = kept
	}
	if len(content) == 0 {
		return nil, nil
	}
	c, err := state.DecodeCheckpoint(ctx, content, o.Decode)
	if err != nil {
		return nil, err
	}
	return c.Latest, nil
}

// replay applies the records to a ledger as the run did.
func (o Recovery) replay(ctx context.Context, f *found, base *state.Snapshot) error {
	provider := f.journal.Header.Secrets.provider()
	options := o.Ledger
	options.SecretsProvider = provider
	if o.peeking {
		options.Now = func() time.Time { return f.journal.Header.Start }
	}
	p, err := newReplay(ctx, f.journal.Header, base, state.NewLedger(base, options), o.Decode)
	if err != nil {
		return err
	}
	for _, e := range f.journal.entries {
		if err := p.apply(ctx, e); err != nil {
			return err
		}
	}
	f.report.Done = p.done
	if f.snapshot, err = p.ledger.Snapshot(); err != nil {
		return err
	}
	f.report.Open, f.encoder = f.snapshot.Pending, o.Encoder(ctx, provider)
	f.report.Earlier = p.notBegun(f.snapshot.Pending)
	return nil
}

// compact writes the checkpoint in the manner of a [Recorder].
func (o Recovery) compact(ctx context.Context, f *found) error {
	c, j := o.Checkpoint, f.journal
	c.Stack, c.Encoder = o.Stack, f.encoder
	c.Save = func(ctx context.Context, b []byte) error {
		last, group := len(j.entries), 0
		if last > 0 {
			group = j.entries[last-1].Group
		}
		frame, err := appendEntry(nil, &entry{
			Number: last + 1, Group: group + 1, First: last + 1, Kind: kindCheckpoint, Digest: state.Digest(b), Through: last,
		})
		if err != nil {
			return err
		}
		if j.Torn > 0 {
			if err := o.Store.Truncate(ctx, j.size); err != nil {
				return err
			}
		}
		if err := o.Store.Append(ctx, frame); err != nil {
			return err
		}
		return o.Checkpoint.Save(ctx, b)
	}
	written, err := c.Write(ctx, f.snapshot)
	if written && err != nil {
		// What the journal holds leads to an invalid state, of which the repaired form has been written.
		return errors.Join(err, o.Store.Remove(ctx))
	}
	return err
}
