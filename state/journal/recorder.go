package journal

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/state/internal/commit"
)

// Options define the base and the destination of a [Recorder].
type Options struct {
	Ledger *state.Ledger
	// Base is the initial snapshot of the ledger, and Content the present content of the checkpoint; Base need not have
	// been read from it.
	Base    *state.Snapshot
	Content []byte
	// Secrets is the provider of the secrets in the checkpoint's encoder.
	Secrets    *state.SecretsProvider
	Store      Store
	Checkpoint state.CheckpointOptions // Deferred is ignored
	// Tool names the program that records, for example "sluice/0.1.0".
	Tool string
	// Operation is a word for the run, such as "destroy"; "" if there is none.
	Operation string
	Now       func() time.Time // nil means [time.Now]
	// OnlyAtEnd compacts the journal when it is closed and never before.
	OnlyAtEnd bool
}

// Recorder is a [state.Recorder] that appends to a journal. Records that come in while others are being written share the
// next write; each caller returns when its own is durable. No caller waits for a change that may be elided: it is written
// with the next one that a caller waits for. The results of a refresh are written within a second. A run with only such
// changes makes no journal.
//
// If the journal cannot be written, or a change that has happened cannot be encrypted, the recording ends: every waiting and every
// later caller gets the error. The changes that have happened are still in the checkpoint that Close writes.
//
// The checkpoint is written while others go on recording; see [Recorder.Close] and the constants for how often. A snapshot
// that fails [state.Verify] never replaces it: as with a [state.CheckpointRecorder] it is set aside, and the recording ends.
type Recorder struct {
	options Options
	run     string

	mu        sync.Mutex // guards the fields below
	commits   *commit.Group
	numbers   map[*state.Resource]int
	next      int // the number of the next new resource
	changed   int // the last record that is not a checkpoint
	queue     []*entry
	group     int
	begun     bool // there may be a journal
	created   bool // there is one
	closed    bool
	compactor compactor
}

var _ state.Recorder = (*Recorder)(nil)

// NewRecorder records into a new journal. Even a run that changes nothing writes the checkpoint once, at Close
// ([state.md 3.3]).
//
// [state.md 3.3]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/state.md#33-what-may-be-written-later
func NewRecorder(o Options) *Recorder {
	if o.Now == nil {
		o.Now = time.Now
	}
	r := &Recorder{options: o, run: uuid.NewString(), numbers: map[*state.Resource]int{}}
	r.commits = commit.New(&r.mu)
	r.compactor.through, r.compactor.size = -1, len(o.Content)
	if r.isNumbered() {
		for _, res := range o.Base.Resources {
			r.number(res)
		}
		for _, op := range o.Base.Pending {
			r.number(op.Resource)
		}
		return r
	}
	r.queue = []*entry{{Kind: kindRebase, Number: r.commits.Add()}}
	return r
}

// isNumbered reports whether the records can refer to the base by position: it is the content of the stack file, and its
// secrets have the provider of the run.
func (r *Recorder) isNumbered() bool {
	b := r.options.Base
	return b != nil && b.Origin() == state.Digest(r.options.Content) && b.SecretsProvider.Identity() == r.options.Secrets.Identity()
}

func (r *Recorder) number(res *state.Resource) {
	r.numbers[res] = r.next
	r.next++
}

// Begin makes the begin of an operation durable. If that fails, the operation has not begun.
func (r *Recorder) Begin(ctx context.Context, op state.Pending) error {
	applied := false
	err := r.record(ctx, draft{
		resources: []*state.Resource{op.Resource},
		durable:   now,
		apply: func() error {
			err := r.options.Ledger.Begin(op)
			applied = err == nil
			return err
		},
		fill: func(e *entry, ref func(*state.Resource) int) {
			e.Kind, e.Operation = kindBegin, op.Type
			of := ref(op.Resource)
			e.Of = &of
		},
	})
	if err != nil && applied {
		// An operation that is not recorded does not start, so the last checkpoint need not contain it.
		err = errors.Join(err, r.options.Ledger.End(state.Change{Begun: op.Resource}))
	}
	return err
}

// End makes the change durable, unless it may be elided.
func (r *Recorder) End(ctx context.Context, c state.Change) error {
	d := draft{happened: true, durable: now, apply: func() error { return r.options.Ledger.End(c) }}
	switch {
	case c.Elide && c.Refresh:
		d.durable = early
	case c.Elide:
		d.durable = lazily
	}
	if c.Add != nil {
		d.resources = append(d.resources, c.Add)
	}
	for _, p := range c.Replace {
		d.resources = append(d.resources, p.New)
	}
	d.fill = func(e *entry, ref func(*state.Resource) int) {
		e.Kind, e.Refresh, e.Extension, e.DropSnippets = kindEnd, c.Refresh, c.Extension, c.DropSnippets
		if c.Begun != nil {
			of := ref(c.Begun)
			e.Of = &of
		}
		for _, res := range c.Remove {
			e.Remove = append(e.Remove, ref(res))
		}
		for _, p := range c.Replace {
			e.Replace = append(e.Replace, [2]int{ref(p.Old), ref(p.New)})
		}
		if c.Add != nil {
			add := ref(c.Add)
			e.Add = &add
		}
		r.forget(c.Begun)
		for _, res := range c.Remove {
			r.forget(res)
		}
		for _, p := range c.Replace {
			r.forget(p.Old)
		}
	}
	return r.record(ctx, d)
}

// forget drops the number of a resource that the ledger no longer has. A later reference introduces it again.
func (r *Recorder) forget(res *state.Resource) {
	if !r.options.Ledger.Holds(res) {
		delete(r.numbers, res)
	}
}

// Rebase makes the rebuilt base durable.
func (r *Recorder) Rebase(ctx context.Context, base *state.Snapshot) error {
	return r.record(ctx, draft{
		resources: everything(base), happened: true, durable: now,
		apply: func() error { r.options.Ledger.Rebase(base); return nil },
		fill: func(e *entry, ref func(*state.Resource) int) {
			fillRebase(e, base, ref)
			for res := range r.numbers {
				r.forget(res)
			}
		},
	})
}

// Snapshot returns the recorded snapshot, durable or not.
func (r *Recorder) Snapshot() (*state.Snapshot, error) { return r.options.Ledger.Snapshot() }

func everything(s *state.Snapshot) []*state.Resource {
	var all []*state.Resource
	if s != nil {
		all = append(all, s.Resources...)
		for _, op := range s.Pending {
			all = append(all, op.Resource)
		}
	}
	return all
}

func fillRebase(e *entry, base *state.Snapshot, ref func(*state.Resource) int) {
	e.Kind, e.Base = kindRebase, &rebase{}
	if base == nil {
		return
	}
	e.Base = &rebase{Metadata: base.Metadata, Snippets: base.Snippets, Extensions: base.Extensions}
	for _, res := range base.Resources {
		e.Base.Resources = append(e.Base.Resources, ref(res))
	}
	for _, op := range base.Pending {
		e.Base.Pending = append(e.Base.Pending, ref(op.Resource))
		e.Base.Types = append(e.Base.Types, op.Type)
	}
}

// Close writes the recorded snapshot into the checkpoint and removes the journal. Operations that have begun and not ended
// stay pending. If the journal could not be written but the checkpoint can, nothing is lost, and there is no error. If the
// checkpoint cannot be written the journal stays, and the next command finds it. A second Close does nothing.
func (r *Recorder) Close(ctx context.Context) error {
	ctx = context.WithoutCancel(ctx)
	if !r.shut() {
		return nil
	}
	r.compactor.wait()
	written, err := r.compactLast(ctx)
	if !written || !r.begun {
		return err
	}
	if gone := r.options.Store.Remove(ctx); gone != nil {
		gone = fmt.Errorf("remove the journal of stack %s, all of which is in the checkpoint: %w", r.options.Checkpoint.Stack, gone)
		err = errors.Join(err, gone)
	}
	return err
}

// shut prevents further records and checkpoints. It returns false the second time.
func (r *Recorder) shut() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return false
	}
	r.closed = true
	r.compactor.stop()
	r.commits.Wait()
	return true
}

// draft is a record that is being made.
type draft struct {
	resources []*state.Resource // that may be new to the journal
	// happened is true for a change of the state: the last checkpoint must contain it, even if the journal cannot be written any more.
	happened bool
	durable  durability
	apply    func() error // changes the ledger
	// fill completes the entry. ref is the number of a resource.
	fill func(e *entry, ref func(*state.Resource) int)
}

// durability is when a record is written.
type durability uint8

const (
	lazily durability = iota // with the next record that a caller waits for
	early                    // within a second
	now                      // before the caller goes on
)

// record applies a record and appends it. The encoding, which is slow, is done by the caller's goroutine without the lock.
func (r *Recorder) record(ctx context.Context, d draft) error {
	ctx = context.WithoutCancel(ctx) // the change has happened and is recorded, even if the caller gives up
	var fault error                  // the journal cannot contain the record
	texts := make([][]byte, len(d.resources))
	for i, res := range d.resources {
		if res == nil || r.knows(res) {
			continue
		}
		r.options.Ledger.ReuseCiphertexts(res)
		var err error
		texts[i], err = r.options.Checkpoint.Encoder.Resource(ctx, res, d.happened)
		fault = errors.Join(fault, err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return state.ErrClosed
	}
	switch err := r.commits.Err(); {
	case err != nil:
		fault = err
	case fault == nil:
		fault = r.introduceBase(ctx)
	}
	if fault != nil {
		if !d.happened {
			return fault
		}
		r.commits.Fail(fault)
		return errors.Join(fault, d.apply())
	}
	if err := d.apply(); err != nil {
		return err
	}
	e := &entry{At: r.next}
	d.fill(e, func(res *state.Resource) int {
		n, ok := r.numbers[res]
		if ok {
			return n
		}
		r.number(res)
		text, err := r.textOf(ctx, res, d.resources, texts)
		fault = errors.Join(fault, err)
		e.New = append(e.New, text)
		return r.next - 1
	})
	if fault != nil {
		r.commits.Fail(fault) // the ledger contains a change that the journal cannot
		return fault
	}
	e.Number = r.commits.Add()
	r.changed, r.queue = e.Number, append(r.queue, e)
	switch d.durable {
	case now:
		return r.flush(ctx, e.Number)
	case early:
		r.compactor.flushSoon(ctx, r)
	}
	return nil
}

func (r *Recorder) knows(res *state.Resource) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, ok := r.numbers[res]
	return ok
}

// textOf is the encoding of a resource, which is almost always in the cache.
func (r *Recorder) textOf(ctx context.Context, res *state.Resource, among []*state.Resource, texts [][]byte) ([]byte, error) {
	for i, other := range among {
		if other == res && texts[i] != nil {
			return texts[i], nil
		}
	}
	return r.options.Checkpoint.Encoder.Resource(ctx, res, false)
}

// introduceBase completes the first record of a journal whose base has no numbers. r.mu is held.
func (r *Recorder) introduceBase(ctx context.Context) error {
	if r.created || len(r.queue) == 0 || r.queue[0].Kind != kindRebase || r.queue[0].Base != nil {
		return nil
	}
	e := r.queue[0]
	var fault error
	fillRebase(e, r.options.Base, func(res *state.Resource) int {
		if n, ok := r.numbers[res]; ok {
			return n
		}
		r.number(res)
		text, err := r.options.Checkpoint.Encoder.Resource(ctx, res, true)
		fault = errors.Join(fault, err)
		e.New = append(e.New, text)
		return r.next - 1
	})
	if fault != nil {
		r.commits.Fail(fault)
	}
	return fault
}

// compactNow writes a checkpoint during the run. A checkpoint that cannot be written does not end the run: the
// journal holds everything, and the next attempt follows.
func (r *Recorder) compactNow(ctx context.Context) {
	began := time.Now()
	_, err := r.compact(ctx)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.compactor.took, r.compactor.waiting = time.Since(began), time.Time{}
	switch {
	case err != nil && !isUnsaved(err):
		r.commits.Fail(err)
	case r.compactor.through < r.changed:
		r.compactor.schedule(ctx, r)
	}
}

// compactLast writes the checkpoint at the end, unless the latest one holds everything. written reports whether the journal is
// no longer needed.
func (r *Recorder) compactLast(ctx context.Context) (written bool, err error) {
	r.mu.Lock()
	fault, complete, repaired := r.commits.Err(), r.compactor.through >= r.changed, r.compactor.repaired
	r.mu.Unlock()
	switch {
	case repaired:
		return true, fault // the records of the journal lead to the invalid snapshot
	case isInvalid(fault):
		return false, fault
	case complete && fault == nil:
		return true, nil
	}
	return r.compact(ctx)
}

// isUnsaved reports whether a good checkpoint could not be written.
func isUnsaved(err error) bool { return errors.As(err, new(*saveError)) && !isInvalid(err) }

func isInvalid(err error) bool { return errors.As(err, new(*state.IntegrityError)) }

// compact writes the ledger's snapshot as the checkpoint. Before that it records the digest in the journal, so that a
// checkpoint of another process is recognised.
func (r *Recorder) compact(ctx context.Context) (written bool, err error) {
	r.mu.Lock()
	through, size := r.commits.Added(), 0
	r.compactor.grown = 0
	snapshot, err := r.options.Ledger.Snapshot() // under the lock: it holds exactly the records up to through
	r.mu.Unlock()
	if err != nil {
		return false, err
	}
	o := r.options.Checkpoint
	o.Save = func(ctx context.Context, b []byte) error {
		size = len(b)
		if err := r.recordCheckpoint(ctx, state.Digest(b), through); err != nil {
			return &saveError{err}
		}
		if err := r.options.Checkpoint.Save(ctx, b); err != nil {
			return &saveError{err}
		}
		return nil
	}
	written, err = o.Write(ctx, snapshot)
	r.mu.Lock()
	defer r.mu.Unlock()
	if written {
		r.compactor.through, r.compactor.size, r.compactor.repaired = through, size, err != nil
	}
	return written, err
}

// recordCheckpoint appends the record of a checkpoint before it is written. Without a journal, or with one that can no
// longer be written, it does nothing.
func (r *Recorder) recordCheckpoint(ctx context.Context, digest string, through int) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.created || r.commits.Err() != nil {
		return nil
	}
	e := &entry{Number: r.commits.Add(), Kind: kindCheckpoint, Digest: digest, Through: through}
	r.queue = append(r.queue, e)
	err := r.flush(ctx, e.Number)
	if err != nil && r.closed {
		return nil // the checkpoint can still be saved
	}
	return err
}

func secretsOf(p *state.SecretsProvider) *secrets {
	if p == nil {
		return nil
	}
	return &secrets{p.Type, p.State}
}

// flush returns when the first n records are durable. r.mu is held.
func (r *Recorder) flush(ctx context.Context, n int) error {
	return r.commits.Flush(n, func() commit.Batch { return r.takeQueue(ctx) })
}

// takeQueue makes a write of the queue. r.mu is held.
func (r *Recorder) takeQueue(ctx context.Context) commit.Batch {
	queue, create := r.queue, !r.created
	r.queue, r.begun = nil, true
	if !create {
		r.group++
	}
	group, size := r.group, 0
	return commit.Batch{
		Write: func() (err error) {
			size, err = r.write(ctx, queue, group, create)
			return err
		},
		End: func(err error) error {
			if err != nil {
				return fmt.Errorf("write the journal of stack %s (%s): %w", r.options.Checkpoint.Stack, r.options.Store.Name(), err)
			}
			r.created = true
			r.compactor.grown += size
			r.compactor.schedule(ctx, r)
			return nil
		},
	}
}

// write returns the number of bytes that it has written.
func (r *Recorder) write(ctx context.Context, queue []*entry, group int, create bool) (size int, err error) {
	b := make([]byte, 0, sizeOf(queue))
	if create {
		if b, err = appendHeader(b, r.header()); err != nil {
			return 0, err
		}
	}
	for _, e := range queue {
		e.Group = group
		if !create {
			e.First = queue[0].Number
		}
		if b, err = appendEntry(b, e); err != nil {
			return 0, err
		}
	}
	if create {
		return len(b), r.options.Store.Create(ctx, b, r.options.Content)
	}
	return len(b), r.options.Store.Append(ctx, b)
}

// sizeOf is the approximate size of the frames of a queue in bytes, so that long records are copied once.
func sizeOf(queue []*entry) int {
	const header, each = 1024, 256
	n := header + each*len(queue)
	for _, e := range queue {
		for _, r := range e.New {
			n += len(r)
		}
	}
	return n
}

func (r *Recorder) header() *Header {
	o := r.options
	h := &Header{
		Format: format, Stack: o.Checkpoint.Stack, Run: r.run, Tool: o.Tool, Operation: o.Operation, Start: o.Now(), Secrets: secretsOf(o.Secrets),
		Base: Base{Digest: state.Digest(o.Content)},
	}
	if r.isNumbered() {
		h.Base.Numbered, h.Base.Resources, h.Base.Pending = true, len(o.Base.Resources), len(o.Base.Pending)
	}
	return h
}
