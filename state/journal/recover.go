package journal

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// Recovery defines how an interrupted run is recovered.
type Recovery struct {
	Stack string // its fully qualified name
	Store Store
	// Content is the present content of the stack file.
	Content []byte
	// Decode reads the base and the records. Secrets may stay sealed.
	Decode state.DecodeOptions
	// Checkpoint defines how the result is written, except for its encoder, which Encoder returns for a secrets provider.
	Checkpoint state.CheckpointOptions
	Encoder    func(ctx context.Context, p *state.SecretsProvider) *state.Encoder
	// Ledger defines the manifest of the result. The secrets provider is the one of the journal.
	Ledger state.LedgerOptions
	// Aside keeps the bytes that are cut off the end of the journal next, which are from an incomplete write, and notifies
	// the user. After an interrupted recovery it may be called again with the same bytes. nil keeps nothing.
	Aside func(ctx context.Context, torn []byte) error
	// History records that the run has ended, before its journal is removed; nil records nothing.
	History func(*Report) error

	peeking bool // see [Peek]
}

// Report describes the content of a journal.
type Report struct {
	Tool      string    // the program that wrote it
	Operation string    // such as "destroy"; "" if the journal does not say it
	Start     time.Time // of the run
	Done      []Completed
	Open      []state.Pending // operations that had begun and not ended, in the order of their URNs
	// Earlier are the operations in Open that earlier runs had begun.
	Earlier []state.Pending
	Torn    int // bytes of an incomplete write
	// Written is true if the checkpoint was out of date, so that it was written, or would be.
	Written bool
}

// Listed is a line of the list of a journal's contents, for a file.
type Listed struct {
	What string  `json:"what"` // "created", "updated", "deleted", or the type of an operation that has not ended
	Open bool    `json:"open,omitempty"`
	URN  urn.URN `json:"urn"`
	ID   string  `json:"id,omitempty"`
}

// List returns all operations in the journal: the completed ones, then the others.
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

// StaleError reports that a journal does not belong to the content of the stack file: another process has written that since, or
// the journal is that of another stack. It has not been applied.
type StaleError struct {
	Name   string // where the journal is
	Stack  string // in the journal
	Other  bool   // whether that is another stack
	Report *Report
	// Err is why the report is incomplete: the base of the journal is lost.
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

// Recover brings the checkpoint up to date with the journal of an interrupted run and removes the journal. It returns nil
// if there is none. A kill in the middle does no harm: the next Recover starts again. A journal that may not be applied is
// left as it is, and the error is a [*StaleError], a [*FormatError] or a [*DamagedError].
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

// Peek returns the checkpoint that [Recover] would write, and its report. The checkpoint has the time at which the run began, so
// that the same journal gives the same bytes. Peek changes nothing, and may be called while a run appends to the journal, if
// Content was read before. It returns no report if nothing has been done under the journal, or if there is no journal any more.
// Errors are those of Recover, or report that the run has ended meanwhile.
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

// found is a journal and the state after its records.
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
	if damaged := (*DamagedError)(nil); errors.As(err, &damaged) && j != nil {
		damaged.Report, damaged.Unlisted = o.whole(ctx, j)
	}
	if err != nil {
		return nil, err
	}
	f := &found{journal: j, torn: data[len(data)-j.Torn:]}
	if !j.isBegun() {
		return f, nil
	}
	f.report = j.report()
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

// whole describes the whole records of a damaged journal. The error is why some are missing in the report.
func (o Recovery) whole(ctx context.Context, j *Journal) (*Report, error) {
	f := &found{journal: j, report: j.report()}
	base, err := o.base(ctx, j)
	if err == nil {
		err = o.replay(ctx, f, base)
	}
	return f.report, err
}

func (o Recovery) setAside(ctx context.Context, torn []byte) error {
	if len(torn) == 0 || o.Aside == nil {
		return nil
	}
	return o.Aside(ctx, torn)
}

// base is the checkpoint that the journal starts from: the present one, or the kept copy.
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

// replay applies the records to a ledger as the run did. After an error the report has those before the one that does not fit.
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
		if err = p.apply(ctx, e); err != nil {
			break
		}
	}
	f.report.Done = p.done
	snapshot, fault := p.ledger.Snapshot()
	if fault != nil {
		return errors.Join(err, fault)
	}
	f.snapshot, f.encoder = snapshot, o.Encoder(ctx, provider)
	f.report.Open, f.report.Earlier = snapshot.Pending, p.notBegun(snapshot.Pending)
	return err
}

// compact writes the checkpoint like a [Recorder].
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
		// The journal leads to an invalid state, whose repaired form has been written.
		return errors.Join(err, o.Store.Remove(ctx))
	}
	return err
}
